// Resources of identity providers and their mappers.
import type { Json, Representation } from '../../kinds/json.ts'
import {
  applied,
  converted,
  entries,
  ifTrue,
  ignored,
  joined,
  name,
  type Rule,
  type Rules,
  renamed,
  reported,
  secret,
  settings,
  text,
  textIfTrue,
  toDotted,
} from './attribute-rules.ts'
import type { RealmScope } from './references.ts'
import { inList, type ResourceType, type ResourceTypes } from './resource-type.ts'

const common: Rules = {
  ...settings('config', ['gui_order', 'sync_mode']),
  extra_config: entries(['config']),
  hide_on_login_page: ifTrue('hideOnLogin'),
  org_domain: text(['config', 'kc.org.domain']),
  org_redirect_mode_email_matches: textIfTrue(['config', 'kc.org.broker.redirect.mode.email-matches']),
  organization_id: name('organizationId', 'organization'),
}

const openid: Rules = {
  ...common,
  ...settings('config', ['client_id', 'disable_user_info', 'login_hint', 'issuer', 'prompt', 'tenant_id']),
  ...settings('config', ['authorization_url', 'token_url', 'logout_url', 'user_info_url', 'api_url', 'base_url']),
  ...settings('config', ['fetched_fields', 'hosted_domain', 'disable_type_claim_check']),
  ...settings('config', ['accepts_prompt_none_forward_from_client', 'backchannel_supported', 'ui_locales'], {
    rule: textIfTrue,
  }),
  ...settings('config', ['github_json_format', 'validate_signature'], { rule: textIfTrue }),
  client_secret: secret(text('config/clientSecret')),
  client_secret_wo_version: reported('belongs to a secret that no state contains: add the secret to the file'),
  default_scopes: text('config/defaultScope'),
  jwks_url: applied((url, node) => {
    node.set('config/useJwksUrl', 'true')
    node.set('config/jwksUrl', url)
  }),
  request_refresh_token: textIfTrue('config/offlineAccess'),
  use_user_ip_param: textIfTrue('config/userIp'),
}

const NAME_ID = 'urn:oasis:names:tc:SAML:1.1:nameid-format:'
const NAME_ID_2 = 'urn:oasis:names:tc:SAML:2.0:nameid-format:'

const jsonText = (path: string): Rule => converted(path, (value) => JSON.stringify(value))

const saml: Rules = {
  ...common,
  ...settings('config', ['entity_id', 'single_sign_on_service_url', 'single_logout_service_url', 'login_hint']),
  ...settings('config', [
    'signature_algorithm',
    'principal_type',
    'principal_attribute',
    'authn_context_comparison_type',
  ]),
  ...settings('config', ['backchannel_supported', 'force_authn', 'validate_signature'], { rule: textIfTrue }),
  ...settings('config', ['post_binding_authn_request', 'post_binding_logout', 'post_binding_response'], {
    rule: textIfTrue,
  }),
  ...settings('config', ['want_assertions_encrypted', 'want_assertions_signed', 'want_authn_requests_signed'], {
    rule: textIfTrue,
  }),
  authn_context_class_refs: jsonText('config/authnContextClassRefs'),
  authn_context_decl_refs: jsonText('config/authnContextDeclRefs'),
  name_id_policy_format: renamed('config/nameIDPolicyFormat', {
    Email: `${NAME_ID}emailAddress`,
    Kerberos: `${NAME_ID_2}kerberos`,
    Persistent: `${NAME_ID_2}persistent`,
    Transient: `${NAME_ID_2}transient`,
    Unspecified: `${NAME_ID}unspecified`,
    'Windows Domain Qualified Name': `${NAME_ID}WindowsDomainQualifiedName`,
    'X.509 Subject Name': `${NAME_ID}X509SubjectName`,
  }),
  signing_certificate: joined('config/signingCertificate', ','),
  xml_sign_key_info_key_name_transformer: text('config/xmlSigKeyInfoKeyNameTransformer'),
}

const provider = (rules: Rules): ResourceType => ({
  kind: 'identityProvider',
  getNode: inList('identityProviders', ['alias', 'alias']),
  rules,
})

/** Providers whose mappers have names of their own. */
const socialProviders = ['apple', 'facebook', 'github', 'google', 'microsoft']
/** Providers whose users are named by the mapper of OpenID Connect. */
const openidProviders = ['facebook', 'google', 'keycloak-oidc']

/** Returns the identity provider type of a mapper; `oidc` if the state does not contain the identity provider. */
function findProviderType(alias: Json | undefined, { references }: Pick<RealmScope, 'references'>): string {
  const { provider_id: type = 'oidc' } = references.find('identityProvider', alias ?? null)?.attributes ?? {}
  return String(type)
}

/** Returns the resource type of an identity provider mapper. `getMapper` returns the mapper for a type of identity provider. */
function mapper(getMapper: (type: string, attributes: Representation) => string, rules: Rules): ResourceType {
  return {
    getNode(attributes, realm) {
      const { identity_provider_alias: alias = null, name = null } = attributes
      const type = getMapper(findProviderType(alias, realm), attributes)
      return realm.node.getChild('identityProviderMappers', JSON.stringify([alias, name]), {
        name,
        identityProviderAlias: alias,
        ...(type && { identityProviderMapper: type }),
      })
    },
    rules: { identity_provider_alias: ignored, name: ignored, extra_config: entries(['config']), ...rules },
  }
}

const dotted = settings('config', ['attribute_name', 'attribute_value', 'attribute_friendly_name', 'claim_value'], {
  toSetting: toDotted,
})

/** Social providers have other settings for the claim, and for the user attribute that gets it. */
const bySocial = (social: string, openid: string): Rule =>
  applied((value, node, { attributes, realm }) => {
    const type = findProviderType(attributes.identity_provider_alias, realm)
    node.set(['config', socialProviders.includes(type) ? social : openid], value)
  })

/** Resource types of identity providers and their mappers. */
export const identityProviderTypes: ResourceTypes = {
  keycloak_oidc_identity_provider: provider(openid),
  keycloak_oidc_facebook_identity_provider: provider(openid),
  keycloak_oidc_github_identity_provider: provider(openid),
  keycloak_oidc_google_identity_provider: provider(openid),
  keycloak_oidc_microsoft_identity_provider: provider(openid),
  keycloak_oidc_openshift_v4_identity_provider: provider(openid),
  keycloak_saml_identity_provider: provider(saml),
  keycloak_kubernetes_identity_provider: provider({ ...common, issuer: text('config/issuer') }),
  keycloak_spiffe_identity_provider: provider({
    ...common,
    ...settings('config', ['trust_domain', 'bundle_endpoint']),
  }),
  keycloak_attribute_importer_identity_provider_mapper: mapper(
    (type) => (socialProviders.includes(type) ? `${type}-user-attribute-mapper` : `${type}-user-attribute-idp-mapper`),
    {
      ...dotted,
      claim_name: bySocial('jsonField', 'claim'),
      user_attribute: bySocial('userAttribute', 'user.attribute'),
    },
  ),
  keycloak_attribute_to_role_identity_provider_mapper: mapper((type) => `${type}-role-idp-mapper`, {
    ...dotted,
    claim_name: text('config/claim'),
    role: text('config/role'),
  }),
  keycloak_custom_identity_provider_mapper: mapper(() => '', { identity_provider_mapper: 'identityProviderMapper' }),
  keycloak_hardcoded_attribute_identity_provider_mapper: mapper(
    (_type, { user_session: isForSession }) =>
      isForSession === true ? 'hardcoded-user-session-attribute-idp-mapper' : 'hardcoded-attribute-idp-mapper',
    { ...dotted, attribute_name: text('config/attribute'), user_session: ignored },
  ),
  keycloak_hardcoded_group_identity_provider_mapper: mapper(() => 'oidc-hardcoded-group-idp-mapper', {
    group: text('config/group'),
  }),
  keycloak_hardcoded_role_identity_provider_mapper: mapper(() => 'oidc-hardcoded-role-idp-mapper', {
    role: text('config/role'),
  }),
  keycloak_user_template_importer_identity_provider_mapper: mapper(
    (type) => `${openidProviders.includes(type) ? 'oidc' : type}-username-idp-mapper`,
    { template: text('config/template') },
  ),
}
