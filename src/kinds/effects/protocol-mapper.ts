import { reservedClaims } from '../mapper-types.ts'
import { apiData, byProvider, combineEffects, enforced, type KindEffects, storedOnly } from './field-effect.ts'
import { NO_DOCKER, NO_SAML } from './reasons.ts'

const settings = (...names: readonly string[]): string[] => names.map((name) => `config.${name}`)

/** Settings of mappers that are flags. */
export const mapperFlags: readonly string[] = [
  'access.token.claim',
  'access.tokenResponse.claim',
  'addOrganizationAttributes',
  'addOrganizationDomain',
  'addOrganizationId',
  'aggregate.attrs',
  'full.path',
  'id.token.claim',
  'introspection.token.claim',
  'lightweight.claim',
  'multivalued',
]

/** The effects of the fields of protocol mappers. */
export const protocolMapperEffects: KindEffects = combineEffects(
  apiData('test/admin/protocol-mappers.test.ts', ['config.*', 'name', 'protocol']),
  enforced('test/conformance/token-content.test.ts', [
    ...settings(
      ...mapperFlags,
      'claim.value',
      'included.client.audience',
      'included.custom.audience',
      'jsonType.label',
      'new.role.name',
      'pairwiseSubAlgorithmSalt',
      'role',
      'user.attribute',
      'user.attribute.country',
      'user.attribute.formatted',
      'user.attribute.locality',
      'user.attribute.postal_code',
      'user.attribute.region',
      'user.attribute.street',
      'user.session.note',
      'usermodel.clientRoleMapping.clientId',
      'usermodel.clientRoleMapping.rolePrefix',
      'usermodel.realmRoleMapping.rolePrefix',
    ),
  ]),
  {
    'config.claim.name': {
      effect: 'stored only',
      reason: `mappers cannot write the claims ${reservedClaims.join(', ')}`,
      values: reservedClaims,
    },
  },
  enforced('test/oidc/token-content.test.ts', settings('sectorIdentifierUri', 'userinfo.token.claim')),
  enforced('test/oidc/organization-claims.test.ts', settings('addGroupRoleMappings')),
  storedOnly(NO_SAML, [
    ...settings(
      'attribute.name',
      'attribute.nameformat',
      'attribute.value',
      'friendly.name',
      'mapper.nameid.format',
      'note',
      'single',
    ),
  ]),
  {
    protocolMapper: byProvider(
      { label: 'protocol mapper', unlisted: 'it adds nothing to tokens' },
      enforced('test/conformance/token-content.test.ts', [
        'oidc-acr-mapper',
        'oidc-address-mapper',
        'oidc-allowed-origins-mapper',
        'oidc-amr-mapper',
        'oidc-audience-mapper',
        'oidc-audience-resolve-mapper',
        'oidc-claims-param-token-mapper',
        'oidc-claims-param-value-idtoken-mapper',
        'oidc-full-name-mapper',
        'oidc-group-membership-mapper',
        'oidc-hardcoded-claim-mapper',
        'oidc-hardcoded-role-mapper',
        'oidc-nonce-backwards-compatible-mapper',
        'oidc-organization-group-membership-mapper',
        'oidc-organization-membership-mapper',
        'oidc-role-name-mapper',
        'oidc-session-state-mapper',
        'oidc-sha256-pairwise-sub-mapper',
        'oidc-sub-mapper',
        'oidc-usermodel-attribute-mapper',
        'oidc-usermodel-client-role-mapper',
        'oidc-usermodel-property-mapper',
        'oidc-usermodel-realm-role-mapper',
        'oidc-usersessionmodel-note-mapper',
      ]),
      storedOnly(NO_DOCKER, ['docker-v2-allow-all-mapper']),
      storedOnly(NO_SAML, [
        'saml-audience-mapper',
        'saml-audience-resolve-mapper',
        'saml-authn-context-class-ref-mapper',
        'saml-group-membership-mapper',
        'saml-hardcode-attribute-mapper',
        'saml-hardcode-role-mapper',
        'saml-organization-group-membership-mapper',
        'saml-organization-membership-mapper',
        'saml-role-list-mapper',
        'saml-role-name-mapper',
        'saml-user-attribute-mapper',
        'saml-user-attribute-nameid-mapper',
        'saml-user-property-mapper',
        'saml-user-session-note-mapper',
      ]),
    ),
  },
)
