#include "common/access/configured_access.h"

#include "common/status_macros.h"

namespace ksearch {

absl::StatusOr<ClientAccess> ReadConfiguredAccess(const std::string& address,
                                                  const std::string& token_file,
                                                  const v1::ClientTls& tls) {
  ClientAccessFiles files;
  files.token_file = token_file;
  files.ca_file = tls.ca_file();
  files.certificate_file = tls.certificate_file();
  files.key_file = tls.key_file();
  files.server_name = tls.server_name();
  ASSIGN_OR_RETURN(ClientAccess access, ReadClientAccess(files));
  RETURN_IF_ERROR(CheckClientAccess(address, access));
  return access;
}

}  // namespace ksearch
