#include "common/access/certificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/digest.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Bio = std::unique_ptr<BIO, Freer<BIO_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freer<X509_EXTENSION_free>>;
using Request = std::unique_ptr<X509_REQ, Freer<X509_REQ_free>>;

constexpr char kWorkerUri[] = "ksearch://worker/";
constexpr char kJoinedUri[] = "ksearch://joined/";
constexpr size_t kMaxRequestBytes = 8 << 10;
constexpr size_t kKeyIdDigits = 32;
constexpr size_t kMaxNameBytes = 64;  // of a common name (RFC 5280, ub-common-name)

absl::Status OpensslError(absl::string_view doing) {
  char text[256] = "no reason given";
  if (const unsigned long code = ERR_get_error(); code != 0) {
    ERR_error_string_n(code, text, sizeof text);
  }
  ERR_clear_error();
  return absl::InternalError(absl::StrCat(doing, ": ", text));
}

bool IsName(absl::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
                  c == '-';
         });
}

// Names go into OpenSSL's text form of extensions, where a comma or newline would start another.
bool IsHost(absl::string_view host) {
  return !host.empty() && host.size() <= 253 && std::all_of(host.begin(), host.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == ':' ||
           c == '*';
  });
}

std::string AlternativeName(const std::string& host) {
  const bool ipv6 = absl::StrContains(host, ':');
  const bool ipv4 = std::all_of(host.begin(), host.end(),
                                [](char c) { return c == '.' || absl::ascii_isdigit(c); });
  return absl::StrCat(ipv4 || ipv6 ? "IP:" : "DNS:", host);
}

absl::StatusOr<std::string> TextOf(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  if (size <= 0) return absl::InternalError("nothing written");
  return std::string(bytes, static_cast<size_t>(size));
}

absl::StatusOr<KeyPair> ToPem(X509* certificate, EVP_PKEY* key) {
  KeyPair pair;
  const Bio certificate_bio(BIO_new(BIO_s_mem())), key_bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(certificate_bio.get(), certificate) != 1 ||
      PEM_write_bio_PKCS8PrivateKey(key_bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) !=
          1) {
    return OpensslError("write PEM");
  }
  ASSIGN_OR_RETURN(pair.certificate, TextOf(certificate_bio.get()));
  ASSIGN_OR_RETURN(pair.key, TextOf(key_bio.get()));
  return pair;
}

// Never prompts for a password: an encrypted key is an error.
int NoPassword(char*, int, int, void*) { return -1; }

Certificate ReadCertificate(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Certificate(PEM_read_bio_X509(bio.get(), nullptr, NoPassword, nullptr));
}

Key ReadKey(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr));
}

absl::Status AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  if (extension == nullptr || X509_add_ext(certificate, extension.get(), -1) != 1) {
    return OpensslError(absl::StrCat("extension ", OBJ_nid2sn(nid), "=", value));
  }
  return absl::OkStatus();
}

// A certificate with version, serial number, validity, subject and public key.
absl::StatusOr<Certificate> Draft(absl::string_view name, absl::Time not_before,
                                  absl::Time not_after, EVP_PKEY* key) {
  Certificate certificate(X509_new());
  unsigned char serial[16];
  if (certificate == nullptr || RAND_bytes(serial, sizeof serial) != 1) return OpensslError("draw");
  serial[0] = static_cast<unsigned char>((serial[0] & 0x7f) | 0x40);  // positive, of full length
  ASN1_STRING_set(X509_get_serialNumber(certificate.get()), serial, sizeof serial);
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  const std::string common_name(name);
  if (X509_set_version(certificate.get(), X509_VERSION_3) != 1 ||
      ASN1_TIME_set(X509_getm_notBefore(certificate.get()), absl::ToTimeT(not_before)) == nullptr ||
      ASN1_TIME_set(X509_getm_notAfter(certificate.get()), absl::ToTimeT(not_after)) == nullptr ||
      X509_set_pubkey(certificate.get(), key) != 1 ||
      X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(common_name.data()),
                                 static_cast<int>(common_name.size()), -1, 0) != 1) {
    return OpensslError("fill in a certificate");
  }
  return certificate;
}

// The key of a request, which must be signed with that key.
absl::StatusOr<Key> KeyOfRequest(const std::string& signing_request) {
  if (signing_request.size() > kMaxRequestBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("signing_request: more than ", kMaxRequestBytes, " bytes"));
  }
  const Bio bio(BIO_new_mem_buf(signing_request.data(), static_cast<int>(signing_request.size())));
  const Request request(PEM_read_bio_X509_REQ(bio.get(), nullptr, NoPassword, nullptr));
  Key key(request == nullptr ? nullptr : X509_REQ_get_pubkey(request.get()));
  const bool p256 = key != nullptr && EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_EC &&
                    EVP_PKEY_get_bits(key.get()) == 256;
  const bool own = p256 && X509_REQ_verify(request.get(), key.get()) == 1;
  ERR_clear_error();
  if (!own) {
    return absl::InvalidArgumentError(
        "signing_request: not a PKCS #10 request in PEM form, signed with its own P-256 key");
  }
  return key;
}

absl::StatusOr<std::string> KeyIdOf(EVP_PKEY* key) {
  unsigned char* bytes = nullptr;
  const int size = i2d_PUBKEY(key, &bytes);
  if (size <= 0) return OpensslError("write a public key");
  std::string id = Sha256Hex({reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)});
  OPENSSL_free(bytes);
  id.resize(kKeyIdDigits);
  return id;
}

struct Authority {
  Certificate certificate;
  Key key;
};

absl::StatusOr<Authority> ReadAuthority(const KeyPair& pair) {
  Authority authority = {ReadCertificate(pair.certificate), ReadKey(pair.key)};
  if (authority.certificate == nullptr || authority.key == nullptr ||
      X509_check_private_key(authority.certificate.get(), authority.key.get()) != 1) {
    ERR_clear_error();
    return absl::InvalidArgumentError(
        "the authority's certificate or key cannot be read, or they do not belong together");
  }
  return authority;
}

// Adds the extensions of a peer's certificate, and the issuer's signature.
absl::Status Sign(const Authority& issuer, bool server, const std::string& names, X509* x509) {
  X509_set_issuer_name(x509, X509_get_subject_name(issuer.certificate.get()));
  const auto add = [&](int nid, const std::string& value) {
    return AddExtension(x509, issuer.certificate.get(), nid, value);
  };
  RETURN_IF_ERROR(add(NID_basic_constraints, "critical,CA:FALSE"));
  RETURN_IF_ERROR(add(NID_key_usage, "critical,digitalSignature"));
  RETURN_IF_ERROR(add(NID_ext_key_usage, server ? "serverAuth" : "clientAuth"));
  RETURN_IF_ERROR(add(NID_subject_key_identifier, "hash"));
  RETURN_IF_ERROR(add(NID_authority_key_identifier, "keyid"));
  RETURN_IF_ERROR(add(NID_subject_alt_name, names));
  if (X509_sign(x509, issuer.key.get(), EVP_sha256()) == 0) return OpensslError("sign");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<KeyPair> MakeAuthority(absl::string_view name, absl::Time not_before,
                                      absl::Time not_after) {
  const Key key(EVP_EC_gen("P-256"));
  if (key == nullptr) return OpensslError("make a key");
  ASSIGN_OR_RETURN(const Certificate certificate, Draft(name, not_before, not_after, key.get()));
  X509* const x509 = certificate.get();
  X509_set_issuer_name(x509, X509_get_subject_name(x509));
  RETURN_IF_ERROR(AddExtension(x509, x509, NID_basic_constraints, "critical,CA:TRUE,pathlen:0"));
  RETURN_IF_ERROR(AddExtension(x509, x509, NID_key_usage, "critical,keyCertSign,cRLSign"));
  RETURN_IF_ERROR(AddExtension(x509, x509, NID_subject_key_identifier, "hash"));
  if (X509_sign(x509, key.get(), EVP_sha256()) == 0) return OpensslError("sign");
  return ToPem(x509, key.get());
}

absl::StatusOr<KeyPair> IssueCertificate(const KeyPair& authority,
                                         const CertificateRequest& request) {
  if (!IsName(request.name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("name '", request.name, "' must be 1 to 64 of [A-Za-z0-9_.-]"));
  }
  std::vector<std::string> names;
  for (const std::string& host : request.hosts) {
    if (!IsHost(host)) {
      return absl::InvalidArgumentError(
          absl::StrCat("host '", host, "' is neither a host name nor an address"));
    }
    names.push_back(AlternativeName(host));
  }
  const bool server = request.use == CertificateRequest::Use::kServer;
  if (server && names.empty()) {
    return absl::InvalidArgumentError("a server's certificate needs the host names clients dial");
  }
  if (!server) names = {absl::StrCat("URI:", kWorkerUri, request.name)};

  ASSIGN_OR_RETURN(const Authority issuer, ReadAuthority(authority));
  const Key key(EVP_EC_gen("P-256"));
  if (key == nullptr) return OpensslError("make a key");
  ASSIGN_OR_RETURN(const Certificate certificate,
                   Draft(request.name, request.not_before, request.not_after, key.get()));
  RETURN_IF_ERROR(Sign(issuer, server, absl::StrJoin(names, ","), certificate.get()));
  return ToPem(certificate.get(), key.get());
}

absl::StatusOr<std::string> MakeKey() {
  const Key key(EVP_EC_gen("P-256"));
  const Bio bio(BIO_new(BIO_s_mem()));
  if (key == nullptr || PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0,
                                                      nullptr, nullptr) != 1) {
    return OpensslError("make a key");
  }
  return TextOf(bio.get());
}

absl::StatusOr<std::string> MakeSigningRequest(const std::string& key_pem) {
  const Key key = ReadKey(key_pem);
  if (key == nullptr) {
    ERR_clear_error();
    return absl::InvalidArgumentError("no private key in PEM form");
  }
  const Request request(X509_REQ_new());
  const Bio bio(BIO_new(BIO_s_mem()));
  if (request == nullptr || X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) != 1 ||
      X509_REQ_set_pubkey(request.get(), key.get()) != 1 ||
      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) == 0 ||
      PEM_write_bio_X509_REQ(bio.get(), request.get()) != 1) {
    return OpensslError("make a signing request");
  }
  return TextOf(bio.get());
}

absl::StatusOr<std::string> KeyIdOfRequest(const std::string& signing_request) {
  ASSIGN_OR_RETURN(const Key key, KeyOfRequest(signing_request));
  return KeyIdOf(key.get());
}

absl::StatusOr<std::string> SignJoinedWorker(const KeyPair& authority,
                                             const std::string& signing_request,
                                             const JoinedWorker& who, absl::Time not_before) {
  if (!IsName(who.token_id) || !IsName(who.worker_id)) {
    return absl::InvalidArgumentError("worker_id: must be 1 to 64 of [A-Za-z0-9_.-]");
  }
  ASSIGN_OR_RETURN(const Key key, KeyOfRequest(signing_request));
  ASSIGN_OR_RETURN(const std::string key_id, KeyIdOf(key.get()));
  ASSIGN_OR_RETURN(const Authority issuer, ReadAuthority(authority));
  ASSIGN_OR_RETURN(const Certificate certificate,
                   Draft(who.worker_id, not_before, who.ends, key.get()));
  RETURN_IF_ERROR(Sign(issuer, /*server=*/false,
                       absl::StrCat("URI:", kJoinedUri, who.token_id, "/", who.worker_id, "/",
                                    key_id, "/", absl::ToUnixSeconds(who.ends)),
                       certificate.get()));
  const Bio bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(bio.get(), certificate.get()) != 1) return OpensslError("write PEM");
  return TextOf(bio.get());
}

std::optional<JoinedWorker> JoinedWorkerOfUri(absl::string_view uri) {
  if (!absl::ConsumePrefix(&uri, kJoinedUri)) return std::nullopt;
  const std::vector<std::string> parts = absl::StrSplit(uri, '/');
  int64_t ends = 0;
  if (parts.size() != 4 || !IsName(parts[0]) || !IsName(parts[1]) ||
      parts[2].size() != kKeyIdDigits || !IsName(parts[2]) || !absl::SimpleAtoi(parts[3], &ends)) {
    return std::nullopt;
  }
  return JoinedWorker{parts[0], parts[1], parts[2], absl::FromUnixSeconds(ends)};
}

absl::StatusOr<absl::Time> EndOfCertificate(const std::string& pem) {
  const Certificate certificate = ReadCertificate(pem);
  ERR_clear_error();
  std::tm ends = {};
  if (certificate == nullptr ||
      ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &ends) != 1) {
    return absl::InvalidArgumentError("no certificate in PEM form");
  }
  return absl::FromTM(ends, absl::UTCTimeZone());
}

absl::Status CheckKeyPair(const KeyPair& pair, absl::Time now, absl::string_view what) {
  const Certificate certificate = ReadCertificate(pair.certificate);
  const Key key = ReadKey(pair.key);
  ERR_clear_error();
  if (certificate == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": no certificate in PEM form"));
  }
  if (key == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": no private key in PEM form (one with a password cannot be used)"));
  }
  const bool fits = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!fits) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": the key does not belong to the certificate"));
  }
  time_t at = absl::ToTimeT(now);
  if (X509_cmp_time(X509_get0_notBefore(certificate.get()), &at) > 0) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": the certificate is not valid yet"));
  }
  if (X509_cmp_time(X509_get0_notAfter(certificate.get()), &at) < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": the certificate has expired; issue a new one (ksearch pki issue)"));
  }
  return absl::OkStatus();
}

std::optional<std::string> WorkerNameOfUri(absl::string_view uri) {
  if (!absl::ConsumePrefix(&uri, kWorkerUri) || !IsName(uri)) return std::nullopt;
  return std::string(uri);
}

}  // namespace ksearch
