terraform {
  required_providers {
    keycloak = {
      source = "keycloak/keycloak"
    }
  }
}

variable "realm_id" {
  type = string
}

resource "keycloak_openid_client" "app" {
  count                 = 2
  realm_id              = var.realm_id
  client_id             = "app-${count.index}"
  access_type           = count.index == 0 ? "PUBLIC" : "BEARER-ONLY"
  standard_flow_enabled = count.index == 0

  # The client policy of the realm would set it.
  pkce_code_challenge_method = count.index == 0 ? "S256" : null

  valid_redirect_uris = count.index == 0 ? ["https://app.example.org/*"] : null
}
