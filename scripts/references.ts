// Renders docs/references.md, the only page with links to other sites.
import { lintRules } from '../src/reconcile/lint/lint.ts'

/** Links by heading. */
const links: Readonly<Record<string, readonly (readonly [title: string, url: string, about: string])[]>> = {
  Keycloak: [
    ['Keycloak', 'https://www.keycloak.org/documentation', 'guides for the server, its realms and clients'],
    [
      'Admin REST API',
      'https://www.keycloak.org/docs-api/latest/rest-api/index.html',
      'operations and representations',
    ],
    [
      'Keycloak Operator',
      'https://www.keycloak.org/guides#operator',
      'the resources `KeycloakRealmImport`, `KeycloakOIDCClient` and `KeycloakSAMLClient`',
    ],
    ['keycloak-config-cli', 'https://github.com/adorsys/keycloak-config-cli', 'realm files and their variables'],
  ],
  'Declarative tools': [
    ['Terraform', 'https://developer.hashicorp.com/terraform/docs', 'plan and apply'],
    ['Flux', 'https://fluxcd.io/flux/', 'reconciliation, drift, suspended sources'],
    ['SOPS', 'https://getsops.io/docs/', 'encrypted files, with keys of age'],
    ['Argo CD', 'https://argo-cd.readthedocs.io/', 'sync, prune, self-heal'],
    ['Kubernetes', 'https://kubernetes.io/docs/', 'resources, conditions, finalizers'],
    ['cert-manager', 'https://cert-manager.io/docs/', 'certificates of the admission webhook'],
    ['Helm', 'https://helm.sh/docs/', 'the chart'],
  ],
  'Issue trackers': [
    ['keycloak', 'https://github.com/keycloak/keycloak/issues', 'also of the new operator'],
    ['keycloak-operator', 'https://github.com/keycloak/keycloak-operator/issues', 'the legacy operator'],
    ['keycloak-realm-operator', 'https://github.com/keycloak/keycloak-realm-operator/issues', ''],
    ['keycloak-config-cli', 'https://github.com/adorsys/keycloak-config-cli/issues', ''],
    ['terraform-provider-keycloak', 'https://github.com/keycloak/terraform-provider-keycloak/issues', ''],
    ['edp-keycloak-operator', 'https://github.com/epam/edp-keycloak-operator/issues', ''],
    ['provider-keycloak', 'https://github.com/crossplane-contrib/provider-keycloak/issues', 'for Crossplane'],
    ['auth0-deploy-cli', 'https://github.com/auth0/auth0-deploy-cli/issues', ''],
    ['argo-cd', 'https://github.com/argoproj/argo-cd/issues', ''],
    ['kustomize-controller', 'https://github.com/fluxcd/kustomize-controller/issues', ''],
  ],
}

/** Standards that pages cite by name, with their titles. */
const standards: Readonly<Record<string, readonly [title: string, url: string]>> = {
  'RFC 6749': ['The OAuth 2.0 Authorization Framework', 'https://www.rfc-editor.org/rfc/rfc6749.html'],
  'RFC 6750': ['Bearer Token Usage', 'https://www.rfc-editor.org/rfc/rfc6750.html'],
  'RFC 7636': ['Proof Key for Code Exchange', 'https://www.rfc-editor.org/rfc/rfc7636.html'],
  'RFC 8252': ['OAuth 2.0 for Native Apps', 'https://www.rfc-editor.org/rfc/rfc8252.html'],
  'RFC 9700': ['Best Current Practice for OAuth 2.0 Security', 'https://www.rfc-editor.org/rfc/rfc9700.html'],
  'RFC 9110': ['HTTP Semantics: entity tags and conditions', 'https://www.rfc-editor.org/rfc/rfc9110.html'],
  'RFC 4513': ['LDAP: Authentication Methods and Security', 'https://www.rfc-editor.org/rfc/rfc4513.html'],
  'RFC 8314': ['Cleartext Considered Obsolete: TLS for Email', 'https://www.rfc-editor.org/rfc/rfc8314.html'],
  'NIST SP 800-63B-4': [
    'Digital Identity Guidelines: Authentication',
    'https://pages.nist.gov/800-63-4/sp800-63b.html',
  ],
  'CWE-798': ['Use of Hard-coded Credentials', 'https://cwe.mitre.org/data/definitions/798.html'],
  'SAML 2.0 profiles': [
    'Profiles for the OASIS SAML V2.0',
    'https://docs.oasis-open.org/security/saml/v2.0/saml-profiles-2.0-os.pdf',
  ],
  'Server Administration Guide': [
    'Keycloak: Server Administration Guide',
    'https://www.keycloak.org/docs/latest/server_admin/',
  ],
  OWASP: ['Web Security Testing Guide', 'https://owasp.org/www-project-web-security-testing-guide/latest/'],
}

/** Returns the standard of a citation: `RFC 9700` of `RFC 9700, section 2.1`. @throws Error if it is not in the list. */
export function findStandard(citation: string): string {
  const standard = Object.keys(standards).find((name) => citation.startsWith(name))
  if (!standard) throw new Error(`${citation} cites a standard that scripts/references.ts does not list.`)
  return standard
}

/** Returns the anchor of a heading, as GitHub computes it. */
export function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

/** Returns the page. */
export function renderReferences(): string {
  const cited = new Map(Object.values(lintRules).map(({ source: [citation, url] }) => [citation, url]))
  const sections = Object.entries(standards).flatMap(([standard, [title, url]]) => {
    const parts = [...cited]
      .filter(([citation]) => citation !== standard && findStandard(citation) === standard)
      .map(([citation, url]) => `[${citation.slice(standard.length).replace(/^[, ]+/, '')}](${url})`)
    return [
      '',
      `### ${standard}`,
      '',
      `[${title}](${url})`,
      ...(parts.length ? ['', `Cited: ${parts.join(', ')}`] : []),
    ]
  })
  return [
    '# Which other documents does this documentation refer to?',
    '',
    'This is the only page with links to other sites. It is generated by `npm run generate`.',
    ...Object.entries(links).flatMap(([heading, list]) => [
      '',
      `## ${heading}`,
      '',
      ...list.map(([title, url, about]) => `- [${title}](${url})${about ? `: ${about}` : ''}`),
    ]),
    '',
    '## Standards',
    ...sections,
    '',
  ].join('\n')
}
