terraform {
  required_providers {
    keycloak = {
      source = "keycloak/keycloak"
    }
  }
}

provider "keycloak" {
  client_id = "admin-cli"
}

# The realm, and what belongs to it as a whole.

resource "keycloak_realm" "acme" {
  realm                       = "acme"
  enabled                     = true
  display_name                = "ACME"
  display_name_html           = "<b>ACME</b>"
  registration_allowed        = true
  remember_me                 = true
  reset_password_allowed      = true
  verify_email                = true
  login_with_email_allowed    = true
  organizations_enabled       = true
  ssl_required                = "external"
  password_policy             = "length(12) and notUsername"
  login_theme                 = "keycloak"
  access_token_lifespan       = "10m"
  access_code_lifespan        = "90s"
  sso_session_idle_timeout    = "1h"
  sso_session_max_lifespan    = "10h30m"
  oauth2_device_code_lifespan = "5m"
  default_signature_algorithm = "RS256"
  revoke_refresh_token        = true
  refresh_token_max_reuse     = 1
  user_managed_access         = true

  attributes = {
    "acme.tier" = "gold"
  }

  smtp_server {
    host              = "mail.example.org"
    port              = "587"
    from              = "no-reply@example.org"
    from_display_name = "ACME"
    reply_to          = "help@example.org"
    starttls          = true

    auth {
      username = "mailer"
      password = "mail-password"
    }
  }

  internationalization {
    supported_locales = ["en", "de", "fr"]
    default_locale    = "de"
  }

  security_defenses {
    headers {
      x_frame_options           = "DENY"
      content_security_policy   = "frame-src 'self'; frame-ancestors 'none'; object-src 'none';"
      strict_transport_security = "max-age=63072000; includeSubDomains"
    }
    brute_force_detection {
      permanent_lockout        = false
      max_login_failures       = 20
      wait_increment_seconds   = 90
      max_failure_wait_seconds = 600
    }
  }

  otp_policy {
    type      = "totp"
    algorithm = "HmacSHA256"
    digits    = 8
    period    = 60
  }

  web_authn_policy {
    relying_party_entity_name     = "ACME"
    signature_algorithms          = ["ES256", "RS256", "ES512"]
    user_verification_requirement = "required"
  }
}

resource "keycloak_realm_events" "acme" {
  realm_id                     = keycloak_realm.acme.id
  events_enabled               = true
  events_expiration            = 86400
  admin_events_enabled         = true
  admin_events_details_enabled = true
  enabled_event_types          = ["LOGIN", "LOGIN_ERROR", "LOGOUT"]
  events_listeners             = ["jboss-logging"]
}

resource "keycloak_realm_localization" "german" {
  realm_id = keycloak_realm.acme.id
  locale   = "de"
  texts = {
    loginTitle = "Anmelden bei ACME"
  }
}

resource "keycloak_realm_user_profile" "acme" {
  realm_id                   = keycloak_realm.acme.id
  unmanaged_attribute_policy = "ENABLED"

  group {
    name                = "work"
    display_header      = "Work"
    display_description = "Seen by colleagues"
  }

  attribute {
    name         = "username"
    display_name = "$${username}"
    permissions {
      view = ["admin", "user"]
      edit = ["admin", "user"]
    }
    validator {
      name   = "length"
      config = { min = "3", max = "255" }
    }
  }
  attribute {
    name               = "email"
    display_name       = "$${email}"
    required_for_roles = ["user"]
    permissions {
      view = ["admin", "user"]
      edit = ["admin", "user"]
    }
    validator {
      name = "email"
    }
  }
  attribute {
    name = "firstName"
    permissions {
      view = ["admin", "user"]
      edit = ["admin", "user"]
    }
  }
  attribute {
    name = "lastName"
    permissions {
      view = ["admin", "user"]
      edit = ["admin", "user"]
    }
  }
  attribute {
    name                = "department"
    display_name        = "Department"
    group               = "work"
    multi_valued        = true
    enabled_when_scope  = ["profile"]
    required_for_scopes = ["profile"]
    permissions {
      view = ["admin", "user"]
      edit = ["admin"]
    }
    validator {
      name   = "options"
      config = { options = jsonencode(["sales", "support"]) }
    }
    annotations = {
      inputType = "multiselect"
    }
  }
}

resource "keycloak_required_action" "terms" {
  realm_id       = keycloak_realm.acme.id
  alias          = "TERMS_AND_CONDITIONS"
  name           = "Terms of ACME"
  enabled        = true
  default_action = true
  priority       = 20
}

resource "keycloak_realm_keystore_rsa_generated" "signing" {
  realm_id  = keycloak_realm.acme.id
  name      = "signing"
  priority  = 200
  algorithm = "RS256"
  key_size  = 2048
}

resource "keycloak_realm_keystore_ecdsa_generated" "elliptic" {
  realm_id           = keycloak_realm.acme.id
  name               = "elliptic"
  priority           = 110
  elliptic_curve_key = "P-384"
}

resource "keycloak_realm_keystore_hmac_generated" "hmac" {
  realm_id    = keycloak_realm.acme.id
  name        = "hmac"
  priority    = 120
  algorithm   = "HS512"
  secret_size = 128
}

resource "keycloak_realm_keystore_aes_generated" "aes" {
  realm_id    = keycloak_realm.acme.id
  name        = "aes"
  priority    = 130
  secret_size = 32
}

resource "keycloak_realm_client_policy_profile" "pkce" {
  realm_id    = keycloak_realm.acme.id
  name        = "pkce"
  description = "Clients use PKCE"
  executor {
    name = "pkce-enforcer"
    configuration = {
      auto-configure = "true"
    }
  }
}

resource "keycloak_realm_client_policy_profile_policy" "pkce" {
  realm_id = keycloak_realm.acme.id
  name     = "browser-clients"
  profiles = [keycloak_realm_client_policy_profile.pkce.name]
  condition {
    name = "client-access-type"
    configuration = {
      type = jsonencode(["public"])
    }
  }
}

resource "keycloak_realm_client_registration_policy" "hosts" {
  realm_id    = keycloak_realm.acme.id
  name        = "Hosts of ACME"
  provider_id = "trusted-hosts"
  sub_type    = "anonymous"
  config = {
    "host-sending-registration-request-must-match" = "true"
    "client-uris-must-match"                       = "true"
    "trusted-hosts"                                = "acme.example.org"
  }
}

# Roles, groups and users.

resource "keycloak_role" "clerk" {
  realm_id    = keycloak_realm.acme.id
  name        = "clerk"
  description = "Sells in a shop"
}

resource "keycloak_role" "manager" {
  realm_id        = keycloak_realm.acme.id
  name            = "manager"
  composite_roles = [keycloak_role.clerk.id, keycloak_role.shop["refund"].id, data.keycloak_role.view_users.id]
  attributes = {
    level = "2##3"
  }
}

resource "keycloak_role" "shop" {
  for_each    = toset(["buy", "refund"])
  realm_id    = keycloak_realm.acme.id
  client_id   = keycloak_openid_client.shop.id
  name        = each.key
  description = "May ${each.key}"
}

data "keycloak_openid_client" "realm_management" {
  realm_id  = keycloak_realm.acme.id
  client_id = "realm-management"
}

data "keycloak_role" "view_users" {
  realm_id  = keycloak_realm.acme.id
  client_id = data.keycloak_openid_client.realm_management.id
  name      = "view-users"
}

resource "keycloak_default_roles" "acme" {
  realm_id      = keycloak_realm.acme.id
  default_roles = ["offline_access", "uma_authorization", keycloak_role.clerk.name, "account/view-profile", "account/manage-account"]
}

resource "keycloak_group" "staff" {
  realm_id    = keycloak_realm.acme.id
  name        = "staff"
  description = "All who work here"
  attributes = {
    site = "Berlin##Paris"
  }
}

resource "keycloak_group" "sales" {
  realm_id  = keycloak_realm.acme.id
  parent_id = keycloak_group.staff.id
  name      = "sales"
}

resource "keycloak_group_roles" "staff" {
  realm_id = keycloak_realm.acme.id
  group_id = keycloak_group.staff.id
  role_ids = [keycloak_role.clerk.id, keycloak_role.shop["buy"].id]
}

resource "keycloak_default_groups" "acme" {
  realm_id  = keycloak_realm.acme.id
  group_ids = [keycloak_group.staff.id]

  # A user who is created later is in this group.
  depends_on = [keycloak_group_memberships.sales]
}

resource "keycloak_user" "alice" {
  realm_id       = keycloak_realm.acme.id
  username       = "alice"
  email          = "alice@example.org"
  email_verified = true
  first_name     = "Alice"
  last_name      = "Archer"
  attributes = {
    department = "sales##support"
  }
  required_actions = ["UPDATE_PASSWORD"]
  initial_password {
    value     = "first-password"
    temporary = true
  }
  federated_identity {
    identity_provider = keycloak_oidc_identity_provider.partner.alias
    user_id           = "4711"
    user_name         = "alice@partner"
  }
}

resource "keycloak_user" "bob" {
  realm_id   = keycloak_realm.acme.id
  username   = "bob"
  email      = "bob@example.org"
  first_name = "Bob"
  last_name  = "Baker"
  enabled    = false
}

resource "keycloak_user_roles" "alice" {
  realm_id   = keycloak_realm.acme.id
  user_id    = keycloak_user.alice.id
  role_ids   = [keycloak_role.manager.id, keycloak_role.shop["buy"].id]
  exhaustive = false
}

resource "keycloak_user_groups" "alice" {
  realm_id   = keycloak_realm.acme.id
  user_id    = keycloak_user.alice.id
  group_ids  = [keycloak_group.sales.id]
  exhaustive = false
}

resource "keycloak_group_memberships" "sales" {
  realm_id = keycloak_realm.acme.id
  group_id = keycloak_group.sales.id
  members  = [keycloak_user.alice.username, keycloak_user.bob.username]
}

resource "keycloak_organization" "partner" {
  realm        = keycloak_realm.acme.id
  name         = "partner"
  alias        = "partner"
  description  = "A partner of ACME"
  redirect_url = "https://partner.example.org"
  domain {
    name     = "partner.example.org"
    verified = true
  }
  attributes = {
    contract = "2026"
  }
}

# Clients and client scopes.

resource "keycloak_openid_client_scope" "orders" {
  realm_id               = keycloak_realm.acme.id
  name                   = "orders"
  description            = "Orders of the user"
  consent_screen_text    = "Your orders"
  include_in_token_scope = true
  gui_order              = 5
}

resource "keycloak_openid_client" "shop" {
  realm_id                        = keycloak_realm.acme.id
  client_id                       = "shop"
  name                            = "Shop"
  access_type                     = "CONFIDENTIAL"
  client_secret                   = "shop-secret"
  standard_flow_enabled           = true
  service_accounts_enabled        = true
  root_url                        = "https://shop.example.org"
  base_url                        = "/home"
  valid_redirect_uris             = ["https://shop.example.org/*"]
  valid_post_logout_redirect_uris = ["https://shop.example.org/bye", "https://shop.example.org/home"]
  web_origins                     = ["https://shop.example.org"]
  access_token_lifespan           = "300"
  pkce_code_challenge_method      = "S256"
  consent_required                = true
  login_theme                     = "keycloak"
  backchannel_logout_url          = "https://shop.example.org/logout"
  authorization {
    policy_enforcement_mode = "ENFORCING"
    decision_strategy       = "AFFIRMATIVE"
  }
  authentication_flow_binding_overrides {
    browser_id = keycloak_authentication_flow.browser.id
  }
  extra_config = {
    "acme.owner" = "sales"
  }
}

module "apps" {
  source   = "./apps"
  realm_id = keycloak_realm.acme.id
}

resource "keycloak_openid_client_default_scopes" "shop" {
  realm_id       = keycloak_realm.acme.id
  client_id      = keycloak_openid_client.shop.id
  default_scopes = ["profile", "email", "roles", "web-origins", "basic", "acr", keycloak_openid_client_scope.orders.name]
}

resource "keycloak_openid_client_optional_scopes" "shop" {
  realm_id        = keycloak_realm.acme.id
  client_id       = keycloak_openid_client.shop.id
  optional_scopes = ["address", "phone", "offline_access"]
}

resource "keycloak_realm_default_client_scopes" "acme" {
  realm_id       = keycloak_realm.acme.id
  default_scopes = ["profile", "email", "roles", "web-origins", "basic", "acr", keycloak_openid_client_scope.orders.name]
}

resource "keycloak_realm_optional_client_scopes" "acme" {
  realm_id        = keycloak_realm.acme.id
  optional_scopes = ["address", "phone", "offline_access", "microprofile-jwt"]
}

resource "keycloak_openid_client_service_account_role" "shop" {
  realm_id                = keycloak_realm.acme.id
  service_account_user_id = keycloak_openid_client.shop.service_account_user_id
  client_id               = data.keycloak_openid_client.realm_management.id
  role                    = "view-users"
}

resource "keycloak_openid_client_service_account_realm_role" "shop" {
  realm_id                = keycloak_realm.acme.id
  service_account_user_id = keycloak_openid_client.shop.service_account_user_id
  role                    = keycloak_role.clerk.name
}

resource "keycloak_generic_role_mapper" "shop" {
  realm_id  = keycloak_realm.acme.id
  client_id = keycloak_openid_client.shop.id
  role_id   = keycloak_role.clerk.id
}

resource "keycloak_generic_role_mapper" "orders" {
  realm_id        = keycloak_realm.acme.id
  client_scope_id = keycloak_openid_client_scope.orders.id
  role_id         = keycloak_role.shop["buy"].id
}

resource "keycloak_saml_client" "payroll" {
  realm_id                    = keycloak_realm.acme.id
  client_id                   = "https://payroll.example.org/saml"
  name                        = "Payroll"
  sign_documents              = true
  sign_assertions             = true
  include_authn_statement     = true
  client_signature_required   = false
  signature_algorithm         = "RSA_SHA256"
  name_id_format              = "email"
  valid_redirect_uris         = ["https://payroll.example.org/*"]
  assertion_consumer_post_url = "https://payroll.example.org/acs"
  root_url                    = "https://payroll.example.org"
}

resource "keycloak_saml_client_scope" "payroll" {
  realm_id    = keycloak_realm.acme.id
  name        = "payroll"
  description = "Claims of the payroll"
}

resource "keycloak_saml_client_default_scopes" "payroll" {
  realm_id       = keycloak_realm.acme.id
  client_id      = keycloak_saml_client.payroll.id
  default_scopes = ["role_list", keycloak_saml_client_scope.payroll.name]
}

# Protocol mappers.

resource "keycloak_openid_user_attribute_protocol_mapper" "department" {
  realm_id        = keycloak_realm.acme.id
  client_scope_id = keycloak_openid_client_scope.orders.id
  name            = "department"
  user_attribute  = "department"
  claim_name      = "department"
  multivalued     = true
}

resource "keycloak_openid_user_property_protocol_mapper" "email" {
  realm_id      = keycloak_realm.acme.id
  client_id     = keycloak_openid_client.shop.id
  name          = "email"
  user_property = "email"
  claim_name    = "mail"
}

resource "keycloak_openid_group_membership_protocol_mapper" "groups" {
  realm_id   = keycloak_realm.acme.id
  client_id  = keycloak_openid_client.shop.id
  name       = "groups"
  claim_name = "groups"
  full_path  = false
}

resource "keycloak_openid_full_name_protocol_mapper" "name" {
  realm_id        = keycloak_realm.acme.id
  client_id       = keycloak_openid_client.shop.id
  name            = "full name"
  add_to_userinfo = false
}

resource "keycloak_openid_sub_protocol_mapper" "sub" {
  realm_id  = keycloak_realm.acme.id
  client_id = keycloak_openid_client.shop.id
  name      = "sub"
}

resource "keycloak_openid_hardcoded_claim_protocol_mapper" "tenant" {
  realm_id    = keycloak_realm.acme.id
  client_id   = keycloak_openid_client.shop.id
  name        = "tenant"
  claim_name  = "tenant"
  claim_value = "acme"
}

resource "keycloak_openid_hardcoded_role_protocol_mapper" "clerk" {
  realm_id  = keycloak_realm.acme.id
  client_id = keycloak_openid_client.shop.id
  name      = "every user is a clerk"
  role_id   = keycloak_role.clerk.id
}

resource "keycloak_openid_hardcoded_role_protocol_mapper" "buyer" {
  realm_id  = keycloak_realm.acme.id
  client_id = keycloak_openid_client.shop.id
  name      = "every user may buy"
  role_id   = keycloak_role.shop["buy"].id
}

resource "keycloak_openid_audience_protocol_mapper" "api" {
  realm_id                 = keycloak_realm.acme.id
  client_id                = keycloak_openid_client.shop.id
  name                     = "audience"
  included_custom_audience = "https://api.example.org"
}

resource "keycloak_openid_audience_resolve_protocol_mapper" "resolve" {
  realm_id  = keycloak_realm.acme.id
  client_id = keycloak_openid_client.shop.id
  name      = "audience resolve"
}

resource "keycloak_openid_user_realm_role_protocol_mapper" "roles" {
  realm_id          = keycloak_realm.acme.id
  client_id         = keycloak_openid_client.shop.id
  name              = "realm roles"
  claim_name        = "realm_roles"
  multivalued       = true
  realm_role_prefix = "realm:"
}

resource "keycloak_openid_user_client_role_protocol_mapper" "roles" {
  realm_id                    = keycloak_realm.acme.id
  client_id                   = keycloak_openid_client.shop.id
  name                        = "client roles"
  claim_name                  = "client_roles"
  multivalued                 = true
  client_id_for_role_mappings = "shop"
  client_role_prefix          = "shop:"
}

resource "keycloak_openid_user_session_note_protocol_mapper" "address" {
  realm_id         = keycloak_realm.acme.id
  client_id        = keycloak_openid_client.shop.id
  name             = "address"
  claim_name       = "ip"
  claim_value_type = "String"
  session_note     = "clientAddress"
}

resource "keycloak_generic_protocol_mapper" "origins" {
  realm_id        = keycloak_realm.acme.id
  client_id       = keycloak_openid_client.shop.id
  name            = "origins"
  protocol        = "openid-connect"
  protocol_mapper = "oidc-allowed-origins-mapper"
  config = {
    "access.token.claim"        = "true"
    "introspection.token.claim" = "true"
  }
}

resource "keycloak_saml_user_attribute_protocol_mapper" "department" {
  realm_id                   = keycloak_realm.acme.id
  client_id                  = keycloak_saml_client.payroll.id
  name                       = "department"
  user_attribute             = "department"
  saml_attribute_name        = "department"
  saml_attribute_name_format = "Basic"
}

resource "keycloak_saml_user_property_protocol_mapper" "email" {
  realm_id                   = keycloak_realm.acme.id
  client_scope_id            = keycloak_saml_client_scope.payroll.id
  name                       = "email"
  user_property              = "email"
  saml_attribute_name        = "email"
  saml_attribute_name_format = "Unspecified"
}

# Authorization services of the shop.

resource "keycloak_openid_client_authorization_scope" "read" {
  realm_id           = keycloak_realm.acme.id
  resource_server_id = keycloak_openid_client.shop.resource_server_id
  name               = "read"
  display_name       = "Read"
}

resource "keycloak_openid_client_authorization_resource" "orders" {
  realm_id           = keycloak_realm.acme.id
  resource_server_id = keycloak_openid_client.shop.resource_server_id
  name               = "orders"
  display_name       = "Orders"
  type               = "urn:acme:orders"
  uris               = ["/orders/*"]
  scopes             = [keycloak_openid_client_authorization_scope.read.name]
  attributes = {
    owner = "sales"
  }
}

resource "keycloak_openid_client_role_policy" "clerks" {
  realm_id           = keycloak_realm.acme.id
  resource_server_id = keycloak_openid_client.shop.resource_server_id
  name               = "clerks"
  type               = "role"
  decision_strategy  = "UNANIMOUS"
  logic              = "POSITIVE"
  role {
    id       = keycloak_role.clerk.id
    required = true
  }
}

resource "keycloak_openid_client_group_policy" "staff" {
  realm_id           = keycloak_realm.acme.id
  resource_server_id = keycloak_openid_client.shop.resource_server_id
  name               = "staff"
  decision_strategy  = "UNANIMOUS"
  logic              = "POSITIVE"
  groups {
    id              = keycloak_group.staff.id
    path            = keycloak_group.staff.path
    extend_children = true
  }
}

resource "keycloak_openid_client_user_policy" "alice" {
  realm_id           = keycloak_realm.acme.id
  resource_server_id = keycloak_openid_client.shop.resource_server_id
  name               = "alice"
  decision_strategy  = "UNANIMOUS"
  logic              = "POSITIVE"
  users              = [keycloak_user.alice.id]
}

resource "keycloak_openid_client_client_policy" "shop" {
  realm_id           = keycloak_realm.acme.id
  resource_server_id = keycloak_openid_client.shop.resource_server_id
  name               = "the shop itself"
  decision_strategy  = "UNANIMOUS"
  logic              = "NEGATIVE"
  clients            = [keycloak_openid_client.shop.id]
}

resource "keycloak_openid_client_time_policy" "office" {
  realm_id           = keycloak_realm.acme.id
  resource_server_id = keycloak_openid_client.shop.resource_server_id
  name               = "office hours"
  decision_strategy  = "UNANIMOUS"
  logic              = "POSITIVE"
  not_before         = "2026-01-01 00:00:00"
  not_on_or_after    = "2036-01-01 00:00:00"
  hour               = "8"
  hour_end           = "18"
}

resource "keycloak_openid_client_regex_policy" "mail" {
  realm_id           = keycloak_realm.acme.id
  resource_server_id = keycloak_openid_client.shop.resource_server_id
  name               = "mail of ACME"
  decision_strategy  = "UNANIMOUS"
  logic              = "POSITIVE"
  target_claim       = "email"
  pattern            = ".*@example[.]org"
}

resource "keycloak_openid_client_authorization_client_scope_policy" "orders" {
  realm_id           = keycloak_realm.acme.id
  resource_server_id = keycloak_openid_client.shop.resource_server_id
  name               = "orders scope"
  scope {
    id       = keycloak_openid_client_scope.orders.id
    required = true
  }
}

resource "keycloak_openid_client_aggregate_policy" "all" {
  realm_id           = keycloak_realm.acme.id
  resource_server_id = keycloak_openid_client.shop.resource_server_id
  name               = "clerks in office hours"
  decision_strategy  = "UNANIMOUS"
  logic              = "POSITIVE"
  policies           = [keycloak_openid_client_role_policy.clerks.id, keycloak_openid_client_time_policy.office.id]
}

resource "keycloak_openid_client_authorization_permission" "orders" {
  realm_id           = keycloak_realm.acme.id
  resource_server_id = keycloak_openid_client.shop.resource_server_id
  name               = "orders"
  policies           = [keycloak_openid_client_role_policy.clerks.id]
  resources          = [keycloak_openid_client_authorization_resource.orders.id]
}

# Identity providers.

resource "keycloak_oidc_identity_provider" "partner" {
  realm              = keycloak_realm.acme.id
  alias              = "partner"
  display_name       = "Partner"
  client_id          = "acme"
  client_secret      = "partner-secret"
  authorization_url  = "https://partner.example.org/auth"
  token_url          = "https://partner.example.org/token"
  user_info_url      = "https://partner.example.org/userinfo"
  issuer             = "https://partner.example.org"
  jwks_url           = "https://partner.example.org/keys"
  validate_signature = true
  trust_email        = true
  sync_mode          = "IMPORT"
  gui_order          = "2"
  default_scopes     = "openid profile"
  extra_config = {
    "clientAuthMethod" = "client_secret_post"
  }
}

resource "keycloak_saml_identity_provider" "ministry" {
  realm                      = keycloak_realm.acme.id
  alias                      = "ministry"
  display_name               = "Ministry"
  entity_id                  = "https://acme.example.org"
  single_sign_on_service_url = "https://ministry.example.org/sso"
  post_binding_authn_request = true
  name_id_policy_format      = "Email"
  authn_context_class_refs   = ["urn:oasis:names:tc:SAML:2.0:ac:classes:Password"]
}

resource "keycloak_oidc_google_identity_provider" "google" {
  realm         = keycloak_realm.acme.id
  client_id     = "google-id"
  client_secret = "google-secret"
  hosted_domain = "example.org"
}

resource "keycloak_oidc_github_identity_provider" "github" {
  realm         = keycloak_realm.acme.id
  client_id     = "github-id"
  client_secret = "github-secret"
}

resource "keycloak_oidc_facebook_identity_provider" "facebook" {
  realm          = keycloak_realm.acme.id
  client_id      = "facebook-id"
  client_secret  = "facebook-secret"
  fetched_fields = "picture"
}

resource "keycloak_oidc_microsoft_identity_provider" "microsoft" {
  realm         = keycloak_realm.acme.id
  client_id     = "microsoft-id"
  client_secret = "microsoft-secret"
  tenant_id     = "acme"
  prompt        = "login"
}

resource "keycloak_attribute_importer_identity_provider_mapper" "department" {
  realm                   = keycloak_realm.acme.id
  identity_provider_alias = keycloak_oidc_identity_provider.partner.alias
  name                    = "department"
  claim_name              = "dept"
  user_attribute          = "department"
  extra_config = {
    syncMode = "INHERIT"
  }
}

resource "keycloak_hardcoded_role_identity_provider_mapper" "clerk" {
  realm                   = keycloak_realm.acme.id
  identity_provider_alias = keycloak_oidc_identity_provider.partner.alias
  name                    = "clerk"
  role                    = keycloak_role.clerk.name
  extra_config = {
    syncMode = "INHERIT"
  }
}

resource "keycloak_hardcoded_group_identity_provider_mapper" "staff" {
  realm                   = keycloak_realm.acme.id
  identity_provider_alias = keycloak_oidc_identity_provider.partner.alias
  name                    = "staff"
  group                   = "/staff"
  extra_config = {
    syncMode = "INHERIT"
  }
}

resource "keycloak_attribute_to_role_identity_provider_mapper" "manager" {
  realm                   = keycloak_realm.acme.id
  identity_provider_alias = keycloak_oidc_identity_provider.partner.alias
  name                    = "manager"
  role                    = keycloak_role.manager.name
  claim_name              = "position"
  claim_value             = "manager"
  extra_config = {
    syncMode = "INHERIT"
  }
}

resource "keycloak_hardcoded_attribute_identity_provider_mapper" "origin" {
  realm                   = keycloak_realm.acme.id
  identity_provider_alias = keycloak_saml_identity_provider.ministry.alias
  name                    = "origin"
  attribute_name          = "origin"
  attribute_value         = "ministry"
  user_session            = false
  extra_config = {
    syncMode = "INHERIT"
  }
}

resource "keycloak_user_template_importer_identity_provider_mapper" "username" {
  realm                   = keycloak_realm.acme.id
  identity_provider_alias = keycloak_oidc_identity_provider.partner.alias
  name                    = "username"
  template                = "$${ALIAS}.$${CLAIM.sub}"
  extra_config = {
    syncMode = "INHERIT"
  }
}

resource "keycloak_custom_identity_provider_mapper" "custom" {
  realm                    = keycloak_realm.acme.id
  identity_provider_alias  = keycloak_oidc_google_identity_provider.google.alias
  name                     = "picture"
  identity_provider_mapper = "google-user-attribute-mapper"
  extra_config = {
    syncMode      = "INHERIT"
    jsonField     = "picture"
    userAttribute = "picture"
  }
}

# Authentication flows.

resource "keycloak_authentication_flow" "browser" {
  realm_id    = keycloak_realm.acme.id
  alias       = "acme browser"
  description = "Cookie, or password with a second factor"
}

resource "keycloak_authentication_execution" "cookie" {
  realm_id          = keycloak_realm.acme.id
  parent_flow_alias = keycloak_authentication_flow.browser.alias
  authenticator     = "auth-cookie"
  requirement       = "ALTERNATIVE"
  priority          = 10
}

resource "keycloak_authentication_execution" "redirector" {
  realm_id          = keycloak_realm.acme.id
  parent_flow_alias = keycloak_authentication_flow.browser.alias
  authenticator     = "identity-provider-redirector"
  requirement       = "ALTERNATIVE"
  priority          = 20
}

resource "keycloak_authentication_execution_config" "redirector" {
  realm_id     = keycloak_realm.acme.id
  execution_id = keycloak_authentication_execution.redirector.id
  alias        = "to the partner"
  config = {
    defaultProvider = "partner"
  }
}

resource "keycloak_authentication_subflow" "forms" {
  realm_id          = keycloak_realm.acme.id
  parent_flow_alias = keycloak_authentication_flow.browser.alias
  alias             = "acme forms"
  requirement       = "ALTERNATIVE"
  priority          = 30
}

resource "keycloak_authentication_execution" "password" {
  realm_id          = keycloak_realm.acme.id
  parent_flow_alias = keycloak_authentication_subflow.forms.alias
  authenticator     = "auth-username-password-form"
  requirement       = "REQUIRED"
  priority          = 10
}

resource "keycloak_authentication_execution" "code" {
  realm_id          = keycloak_realm.acme.id
  parent_flow_alias = keycloak_authentication_subflow.forms.alias
  authenticator     = "auth-otp-form"
  requirement       = "REQUIRED"
  priority          = 20
}

resource "keycloak_authentication_bindings" "acme" {
  realm_id     = keycloak_realm.acme.id
  browser_flow = keycloak_authentication_flow.browser.alias
}

# Users of a directory.

resource "keycloak_ldap_user_federation" "directory" {
  realm_id                = keycloak_realm.acme.id
  name                    = "directory"
  connection_url          = "ldap://directory.example.org"
  users_dn                = "ou=staff,dc=example,dc=org"
  bind_dn                 = "cn=reader,dc=example,dc=org"
  bind_credential         = "reader-password"
  username_ldap_attribute = "uid"
  rdn_ldap_attribute      = "uid"
  uuid_ldap_attribute     = "entryUUID"
  user_object_classes     = ["inetOrgPerson", "organizationalPerson"]
  vendor                  = "OTHER"
  edit_mode               = "READ_ONLY"
  enabled                 = false
  connection_timeout      = "5s"
  read_timeout            = "10s"
  search_scope            = "SUBTREE"
  cache {
    policy       = "MAX_LIFESPAN"
    max_lifespan = "1h"
  }
  kerberos {
    server_principal = "HTTP/sso.example.org@EXAMPLE.ORG"
    key_tab          = "/etc/krb5.keytab"
    kerberos_realm   = "EXAMPLE.ORG"
  }
}

resource "keycloak_ldap_user_attribute_mapper" "department" {
  realm_id                = keycloak_realm.acme.id
  ldap_user_federation_id = keycloak_ldap_user_federation.directory.id
  name                    = "department"
  ldap_attribute          = "departmentNumber"
  user_model_attribute    = "department"
  read_only               = true
}

resource "keycloak_ldap_group_mapper" "groups" {
  realm_id                       = keycloak_realm.acme.id
  ldap_user_federation_id        = keycloak_ldap_user_federation.directory.id
  name                           = "groups"
  ldap_groups_dn                 = "ou=groups,dc=example,dc=org"
  group_name_ldap_attribute      = "cn"
  group_object_classes           = ["groupOfNames"]
  membership_ldap_attribute      = "member"
  membership_user_ldap_attribute = "uid"
  preserve_group_inheritance     = false
}

resource "keycloak_ldap_role_mapper" "roles" {
  realm_id                       = keycloak_realm.acme.id
  ldap_user_federation_id        = keycloak_ldap_user_federation.directory.id
  name                           = "roles"
  ldap_roles_dn                  = "ou=roles,dc=example,dc=org"
  role_name_ldap_attribute       = "cn"
  role_object_classes            = ["groupOfNames"]
  membership_ldap_attribute      = "member"
  membership_user_ldap_attribute = "uid"
}

resource "keycloak_ldap_full_name_mapper" "name" {
  realm_id                 = keycloak_realm.acme.id
  ldap_user_federation_id  = keycloak_ldap_user_federation.directory.id
  name                     = "full name"
  ldap_full_name_attribute = "cn"
  read_only                = true
}

resource "keycloak_ldap_hardcoded_role_mapper" "clerk" {
  realm_id                = keycloak_realm.acme.id
  ldap_user_federation_id = keycloak_ldap_user_federation.directory.id
  name                    = "clerk"
  role                    = keycloak_role.clerk.name
}

resource "keycloak_ldap_hardcoded_group_mapper" "staff" {
  realm_id                = keycloak_realm.acme.id
  ldap_user_federation_id = keycloak_ldap_user_federation.directory.id
  name                    = "staff"
  group                   = keycloak_group.staff.path
}

resource "keycloak_ldap_hardcoded_attribute_mapper" "origin" {
  realm_id                = keycloak_realm.acme.id
  ldap_user_federation_id = keycloak_ldap_user_federation.directory.id
  name                    = "origin"
  attribute_name          = "businessCategory"
  attribute_value         = "staff"
}

resource "keycloak_hardcoded_attribute_mapper" "source" {
  realm_id                = keycloak_realm.acme.id
  ldap_user_federation_id = keycloak_ldap_user_federation.directory.id
  name                    = "source"
  attribute_name          = "source"
  attribute_value         = "directory"
}

resource "keycloak_ldap_custom_mapper" "zone" {
  realm_id                = keycloak_realm.acme.id
  ldap_user_federation_id = keycloak_ldap_user_federation.directory.id
  name                    = "certificate"
  provider_id             = "certificate-ldap-mapper"
  provider_type           = "org.keycloak.storage.ldap.mappers.LDAPStorageMapper"
  config = {
    "ldap.attribute"       = "userCertificate"
    "user.model.attribute" = "certificate"
  }
}

resource "keycloak_ldap_msad_user_account_control_mapper" "account" {
  realm_id                           = keycloak_realm.acme.id
  ldap_user_federation_id            = keycloak_ldap_user_federation.directory.id
  name                               = "account"
  ldap_password_policy_hints_enabled = true
}

resource "keycloak_ldap_msad_lds_user_account_control_mapper" "account" {
  realm_id                = keycloak_realm.acme.id
  ldap_user_federation_id = keycloak_ldap_user_federation.directory.id
  name                    = "lds account"
}

# Automation.

resource "keycloak_workflow" "inactive" {
  realm = keycloak_realm.acme.id
  name  = "inactive users"
  on    = "user-authenticated"
  step {
    uses  = "notify-user"
    after = "P30D"
    config = {
      subject = "Are you still there?"
    }
  }
  step {
    uses  = "disable-user"
    after = "P10D"
  }
}

# Not converted.

resource "keycloak_users_permissions" "acme" {
  realm_id = keycloak_realm.acme.id
}
