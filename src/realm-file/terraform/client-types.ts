// Resources of clients and client scopes: their settings, assigned client scopes, scope mappings and protocol mappers.
import type { Json, Representation } from '../../kinds/json.ts'
import {
  applied,
  block,
  converted,
  entries,
  ignored,
  name,
  type Rules,
  renamed,
  reported,
  secret,
  settings,
  text,
  textIfTrue,
  toDotted,
  toSentOrder,
} from './attribute-rules.ts'
import type { ObjectNode } from './object-node.ts'
import type { RealmScope } from './references.ts'
import { getReferred, inList, type ResourceType, type ResourceTypes } from './resource-type.ts'

const flowOverrides = block({
  browser_id: name('authenticationFlowBindingOverrides/browser', 'authenticationFlow'),
  direct_grant_id: name('authenticationFlowBindingOverrides/direct_grant', 'authenticationFlow'),
})

const openidClient: Rules = {
  access_type: applied((type, node) => {
    node.set('publicClient', type === 'PUBLIC')
    node.set('bearerOnly', type === 'BEARER-ONLY')
  }),
  authentication_flow_binding_overrides: flowOverrides,
  authorization: block({
    policy_enforcement_mode: applied((mode, node) => {
      node.set('authorizationServicesEnabled', true)
      node.set('authorizationSettings/policyEnforcementMode', mode)
    }),
    decision_strategy: 'authorizationSettings/decisionStrategy',
    allow_remote_resource_management: 'authorizationSettings/allowRemoteResourceManagement',
    keep_defaults: ignored,
  }),
  client_secret: secret(text('secret')),
  client_secret_regenerate_when_changed: ignored,
  client_secret_wo_version: reported('belongs to a secret that no state contains: add the secret to the file'),
  extra_config: entries(['attributes']),
  frontchannel_logout_enabled: 'frontchannelLogout',
  resource_server_id: ignored,
  service_account_user_id: ignored,
  valid_post_logout_redirect_uris: converted(['attributes', 'post.logout.redirect.uris'], (uris) =>
    toSentOrder(uris).join('##'),
  ),
  valid_redirect_uris: 'redirectUris',
  login_theme: text('attributes/login_theme'),
  ...settings(
    'attributes',
    [
      'access_token_lifespan',
      'backchannel_logout_session_required',
      'backchannel_logout_url',
      'client_offline_session_idle_timeout',
      'client_offline_session_max_lifespan',
      'client_session_idle_timeout',
      'client_session_max_lifespan',
      'consent_screen_text',
      'display_on_consent_screen',
      'exclude_issuer_from_auth_response',
      'exclude_session_state_from_auth_response',
      'frontchannel_logout_url',
      'oauth2_device_authorization_grant_enabled',
      'oauth2_device_code_lifespan',
      'oauth2_device_polling_interval',
      'oauth2_jwt_authorization_grant_enabled',
      'oauth2_jwt_authorization_grant_idp',
      'pkce_code_challenge_method',
      'use_refresh_tokens',
    ],
    { toSetting: toDotted },
  ),
  allow_refresh_token_in_standard_token_exchange: text([
    'attributes',
    'standard.token.exchange.enableRefreshRequestedTokenType',
  ]),
  backchannel_logout_revoke_offline_sessions: text(['attributes', 'backchannel.logout.revoke.offline.tokens']),
  require_dpop_bound_tokens: textIfTrue(['attributes', 'dpop.bound.access.tokens']),
  standard_token_exchange_enabled: textIfTrue(['attributes', 'standard.token.exchange.enabled']),
  use_refresh_tokens_client_credentials: text(['attributes', 'client_credentials.use_refresh_token']),
}

const XMLENC = 'http://www.w3.org/2001/04/xmlenc#'
const XMLENC11 = 'http://www.w3.org/2009/xmlenc11#'
const C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'
const EXC_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#'

const samlClient: Rules = {
  assertion_consumer_post_url: text('attributes/saml_assertion_consumer_url_post'),
  assertion_consumer_redirect_url: text('attributes/saml_assertion_consumer_url_redirect'),
  authentication_flow_binding_overrides: flowOverrides,
  canonicalization_method: renamed('attributes/saml_signature_canonicalization_method', {
    EXCLUSIVE: EXC_C14N,
    EXCLUSIVE_WITH_COMMENTS: `${EXC_C14N}WithComments`,
    INCLUSIVE: C14N,
    INCLUSIVE_WITH_COMMENTS: `${C14N}#WithComments`,
  }),
  client_signature_required: text(['attributes', 'saml.client.signature']),
  encrypt_assertions: text(['attributes', 'saml.encrypt']),
  encryption_algorithm: renamed(['attributes', 'saml.encryption.algorithm'], {
    AES_256_GCM: `${XMLENC11}aes256-gcm`,
    AES_192_GCM: `${XMLENC11}aes192-gcm`,
    AES_128_GCM: `${XMLENC11}aes128-gcm`,
    AES_256_CBC: `${XMLENC}aes256-cbc`,
    AES_192_CBC: `${XMLENC}aes192-cbc`,
    AES_128_CBC: `${XMLENC}aes128-cbc`,
  }),
  encryption_certificate: text(['attributes', 'saml.encryption.certificate']),
  encryption_certificate_sha1: ignored,
  encryption_digest_method: renamed(['attributes', 'saml.encryption.digestMethod'], {
    'SHA-512': `${XMLENC}sha512`,
    'SHA-256': `${XMLENC}sha256`,
    'SHA-1': 'http://www.w3.org/2000/09/xmldsig#sha1',
  }),
  encryption_key_algorithm: renamed(['attributes', 'saml.encryption.keyAlgorithm'], {
    'RSA-OAEP-11': `${XMLENC11}rsa-oaep`,
    'RSA-OAEP-MGF1P': `${XMLENC}rsa-oaep-mgf1p`,
    RSA1_5: `${XMLENC}rsa-1_5`,
  }),
  encryption_mask_generation_function: converted(
    ['attributes', 'saml.encryption.maskGenerationFunction'],
    (value) => `${XMLENC11}${value}`,
  ),
  extra_config: entries(['attributes']),
  force_name_id_format: text('attributes/saml_force_name_id_format'),
  force_post_binding: text(['attributes', 'saml.force.post.binding']),
  front_channel_logout: 'frontchannelLogout',
  idp_initiated_sso_relay_state: text('attributes/saml_idp_initiated_sso_relay_state'),
  idp_initiated_sso_url_name: text('attributes/saml_idp_initiated_sso_url_name'),
  include_authn_statement: text(['attributes', 'saml.authnstatement']),
  login_theme: text('attributes/login_theme'),
  logout_service_post_binding_url: text('attributes/saml_single_logout_service_url_post'),
  logout_service_redirect_binding_url: text('attributes/saml_single_logout_service_url_redirect'),
  master_saml_processing_url: 'adminUrl',
  name_id_format: text('attributes/saml_name_id_format'),
  sign_assertions: text(['attributes', 'saml.assertion.signature']),
  sign_documents: text(['attributes', 'saml.server.signature']),
  signature_algorithm: text(['attributes', 'saml.signature.algorithm']),
  signature_key_name: text(['attributes', 'saml.server.signature.keyinfo.xmlSigKeyInfoKeyNameTransformer']),
  signing_certificate: text(['attributes', 'saml.signing.certificate']),
  signing_certificate_sha1: ignored,
  signing_private_key: secret(text(['attributes', 'saml.signing.private.key'])),
  signing_private_key_sha1: ignored,
  valid_redirect_uris: 'redirectUris',
}

const clientScope: Rules = {
  consent_screen_text: applied((consentText, node) => {
    node.set(['attributes', 'display.on.consent.screen'], 'true')
    node.set(['attributes', 'consent.screen.text'], consentText)
  }),
  extra_config: entries(['attributes']),
  gui_order: text(['attributes', 'gui.order']),
  include_in_token_scope: text(['attributes', 'include.in.token.scope']),
  include_in_openid_provider_metadata: text(['attributes', 'include.in.openid.provider.metadata']),
}

const getClient: ResourceType['getNode'] = ({ client_id: id }, realm) => getReferred('client', id, realm)

const isPresent = (id: Json | undefined) => id !== undefined && id !== null && id !== ''

/** Returns the client or the client scope that a resource belongs to. */
function getOwner({ client_id: client, client_scope_id: scope }: Representation, realm: RealmScope): ObjectNode {
  return isPresent(scope) ? getReferred('clientScope', scope, realm) : getReferred('client', client, realm)
}

const assignedScopes = (attribute: string, field: string): ResourceType => ({
  getNode: getClient,
  rules: { client_id: ignored, [attribute]: field },
})

const scopeMapping: ResourceType = {
  getNode: getOwner,
  rules: {
    client_id: ignored,
    client_scope_id: ignored,
    role_id: applied((id, node, { realm }) => {
      const { name, client } = realm.references.resolve('role', id)
      node.add(client === undefined ? 'scopeMappings/realm' : ['scopeMappings', 'client', client], name)
    }),
  },
}

/** Returns the resource type of a protocol mapper. Settings without a rule have the name of the attribute with dots. */
function mapper(protocol: string, protocolMapper: string, rules: Rules): ResourceType {
  return {
    getNode: (attributes, realm) =>
      getOwner(attributes, realm).getChild('protocolMappers', String(attributes.name), {
        name: attributes.name ?? null,
        ...(protocolMapper && { protocol, protocolMapper }),
      }),
    rules: { client_id: ignored, client_scope_id: ignored, name: ignored, ...rules },
  }
}

const dotted = (...attributes: string[]): Rules => settings('config', attributes, { toSetting: toDotted })

const inTokens: Rules = {
  add_to_access_token: text(['config', 'access.token.claim']),
  add_to_id_token: text(['config', 'id.token.claim']),
  add_to_userinfo: text(['config', 'userinfo.token.claim']),
  add_to_token_introspection: text(['config', 'introspection.token.claim']),
}

const claim: Rules = {
  ...inTokens,
  ...dotted('claim_name', 'multivalued'),
  claim_value_type: text(['config', 'jsonType.label']),
}

const genericMapper: ResourceType = mapper('', '', {
  protocol: 'protocol',
  protocol_mapper: 'protocolMapper',
  config: entries(['config']),
})

const samlAttribute: Rules = {
  saml_attribute_name: text(['config', 'attribute.name']),
  saml_attribute_name_format: text(['config', 'attribute.nameformat']),
  ...dotted('friendly_name'),
}

const OIDC = 'openid-connect'

/** Resource types of protocol mappers. */
const protocolMapperTypes: ResourceTypes = {
  keycloak_generic_client_protocol_mapper: genericMapper,
  keycloak_generic_protocol_mapper: genericMapper,
  keycloak_openid_audience_protocol_mapper: mapper(OIDC, 'oidc-audience-mapper', {
    ...inTokens,
    ...dotted('included_client_audience', 'included_custom_audience'),
  }),
  keycloak_openid_audience_resolve_protocol_mapper: mapper(OIDC, 'oidc-audience-resolve-mapper', {}),
  keycloak_openid_full_name_protocol_mapper: mapper(OIDC, 'oidc-full-name-mapper', inTokens),
  keycloak_openid_group_membership_protocol_mapper: mapper(OIDC, 'oidc-group-membership-mapper', {
    ...claim,
    ...dotted('full_path'),
  }),
  keycloak_openid_hardcoded_claim_protocol_mapper: mapper(OIDC, 'oidc-hardcoded-claim-mapper', {
    ...claim,
    ...dotted('claim_value'),
  }),
  keycloak_openid_hardcoded_role_protocol_mapper: mapper(OIDC, 'oidc-hardcoded-role-mapper', {
    role_id: converted('config/role', (id, { references }) => {
      const { name, client } = references.resolve('role', id)
      return client === undefined ? name : `${client}.${name}`
    }),
  }),
  keycloak_openid_sub_protocol_mapper: mapper(OIDC, 'oidc-sub-mapper', inTokens),
  keycloak_openid_user_attribute_protocol_mapper: mapper(OIDC, 'oidc-usermodel-attribute-mapper', {
    ...claim,
    ...dotted('user_attribute'),
    aggregate_attributes: text(['config', 'aggregate.attrs']),
  }),
  keycloak_openid_user_client_role_protocol_mapper: mapper(OIDC, 'oidc-usermodel-client-role-mapper', {
    ...claim,
    client_id_for_role_mappings: text(['config', 'usermodel.clientRoleMapping.clientId']),
    client_role_prefix: text(['config', 'usermodel.clientRoleMapping.rolePrefix']),
  }),
  keycloak_openid_user_property_protocol_mapper: mapper(OIDC, 'oidc-usermodel-property-mapper', {
    ...claim,
    user_property: text(['config', 'user.attribute']),
  }),
  keycloak_openid_user_realm_role_protocol_mapper: mapper(OIDC, 'oidc-usermodel-realm-role-mapper', {
    ...claim,
    realm_role_prefix: text(['config', 'usermodel.realmRoleMapping.rolePrefix']),
  }),
  keycloak_openid_user_session_note_protocol_mapper: mapper(OIDC, 'oidc-usersessionmodel-note-mapper', {
    ...claim,
    session_note: text(['config', 'user.session.note']),
  }),
  keycloak_saml_user_attribute_protocol_mapper: mapper('saml', 'saml-user-attribute-mapper', {
    ...samlAttribute,
    ...dotted('user_attribute'),
    aggregate_attributes: text(['config', 'aggregate.attrs']),
  }),
  keycloak_saml_user_property_protocol_mapper: mapper('saml', 'saml-user-property-mapper', {
    ...samlAttribute,
    user_property: text(['config', 'user.attribute']),
  }),
}

/** Resource types of clients and client scopes. */
export const clientTypes: ResourceTypes = {
  keycloak_openid_client: {
    kind: 'client',
    getNode: inList('clients', ['clientId', 'client_id'], { protocol: OIDC }),
    rules: openidClient,
  },
  keycloak_saml_client: {
    kind: 'client',
    getNode: inList('clients', ['clientId', 'client_id'], { protocol: 'saml' }),
    rules: samlClient,
  },
  keycloak_openid_client_scope: {
    kind: 'clientScope',
    getNode: inList('clientScopes', ['name', 'name'], { protocol: OIDC }),
    rules: clientScope,
  },
  keycloak_saml_client_scope: {
    kind: 'clientScope',
    getNode: inList('clientScopes', ['name', 'name'], { protocol: 'saml' }),
    rules: clientScope,
  },
  keycloak_openid_client_default_scopes: assignedScopes('default_scopes', 'defaultClientScopes'),
  keycloak_openid_client_optional_scopes: assignedScopes('optional_scopes', 'optionalClientScopes'),
  keycloak_saml_client_default_scopes: assignedScopes('default_scopes', 'defaultClientScopes'),
  keycloak_generic_role_mapper: scopeMapping,
  keycloak_generic_client_role_mapper: scopeMapping,
  ...protocolMapperTypes,
}
