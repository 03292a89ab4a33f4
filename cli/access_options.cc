#include "cli/access_options.h"

#include <CLI/CLI.hpp>

namespace ksearch {

void AddAccess(CLI::App* app, ClientAccessFiles* access) {
  app->add_option("--token-file", access->token_file,
                  "file with your access token (or its text in KSEARCH_TOKEN)")
      ->envname("KSEARCH_TOKEN_FILE");
  app->add_option("--ca-file", access->ca_file,
                  "CA certificate (PEM) that verifies the coordinator; enables TLS")
      ->envname("KSEARCH_CA_FILE");
  app->add_option("--server-name", access->server_name,
                  "name in the coordinator's certificate, if it is not the host of the address")
      ->envname("KSEARCH_SERVER_NAME");
  app->add_option("--cert-file", access->certificate_file,
                  "your own certificate (PEM), if the coordinator requires one");
  app->add_option("--key-file", access->key_file, "key of that certificate (PEM)");
}

void AddToken(CLI::App* app, Options* options) {
  app->require_subcommand(0, 1);
  app->add_option("--token-db", options->token_db, "the coordinator's token file")
      ->default_val("ksearch-state/tokens.textproto");
  CLI::App* create = app->add_subcommand("create", "create a token and print it once");
  create->callback([options] { options->action = "create"; });
  create->add_option("--role", options->role, "read, submit, admin, worker or join")
      ->required()
      ->check(CLI::IsMember({"read", "submit", "admin", "worker", "join"}));
  create->add_option("--pool", options->pool, "only for workers of this pool (worker, join)");
  create->add_option("--name", options->name, "the owner's name, for the list");
  create->add_option("--days", options->days, "days until it expires (default 365)")
      ->check(CLI::Range(1, 36500));
  CLI::Option* const out =
      create->add_option("--out", options->out, "write it to this new file instead of printing it");
  create
      ->add_option(
          "--access-file", options->access_file,
          "write it to this new file, together with the values of --coordinator, --ca-file, "
          "--server-name and --pool; `ksearch-worker --access FILE` reads the file")
      ->excludes(out);
  for (const char* name : {"list", "ls"}) {
    app->add_subcommand(name, "list tokens, without their secrets, and revoked workers")
        ->callback([options] { options->action = "list"; });
  }
  CLI::App* revoke = app->add_subcommand(
      "revoke", "revoke a token, or one worker's certificates, also in a running coordinator");
  revoke->callback([options] { options->action = "revoke"; });
  CLI::Option_group* const what = revoke->add_option_group("what");
  what->add_option("id", options->token_id, "id of the token, as `token list` prints it");
  CLI::Option* const of_worker =
      what->add_option("--worker", options->token_worker,
                       "id of a worker that joined, as `ksearch workers` prints it");
  what->require_option(1);
  revoke->add_flag("--undo", options->undo, "let the worker join again")->needs(of_worker);
}

void AddPki(CLI::App* app, Options* options) {
  app->require_subcommand(0, 1);
  app->add_option("--ca-dir", options->ca_dir, "folder of the certificate authority")
      ->default_val("ksearch-pki");
  CLI::App* init = app->add_subcommand("init", "create a certificate authority: ca.pem and ca.key");
  init->callback([options] { options->action = "init"; });
  CLI::App* issue = app->add_subcommand("issue", "issue a certificate and its key");
  auto* server = issue->add_option(
      "--server", options->hosts,
      "for a coordinator: all host names and addresses by which clients reach it");
  auto* worker = issue->add_option("--worker", options->worker, "for the worker of this name")
                     ->excludes(server);
  issue->callback([options, server, worker] {
    options->action = "issue";
    if (server->count() + worker->count() == 0) {
      throw CLI::RequiredError("pki issue: --server HOST... or --worker NAME",
                               CLI::ExitCodes::RequiredError);
    }
  });
  issue->add_option("--out", options->out,
                    "folder for the two files (default: that of the authority)");
  for (CLI::App* sub : {init, issue}) {
    sub->add_option("--days", options->days, "days until it expires (init 3650, issue 365)")
        ->check(CLI::Range(1, 36500));
  }
}

}  // namespace ksearch
