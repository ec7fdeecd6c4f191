// The formats of installation documents. Keycloak: ClientInstallationProvider.
import type { InstalledClient } from './installed-client.ts'
import { packMellonFiles } from './mellon-files.ts'
import { renderAdapterJson, renderSubsystemCommands, renderSubsystemXml } from './oidc-adapter.ts'
import { renderSamlAdapterXml, renderSamlSubsystemCommands, renderSamlSubsystemXml } from './saml-adapter.ts'
import { renderClientMetadata } from './saml-metadata.ts'

/** A format, as the server information describes it. */
export interface InstallationFormat {
  readonly id: string
  readonly protocol: 'openid-connect' | 'saml'
  /** Whether the document is not a text. */
  readonly downloadOnly: boolean
  readonly displayType: string
  readonly helpText: string
  readonly filename: string
  readonly mediaType: string
}

interface Installation extends InstallationFormat {
  readonly render: (installed: InstalledClient) => string | Promise<Uint8Array>
}

const XML = 'application/xml'

const installations: readonly Installation[] = [
  {
    id: 'keycloak-oidc-keycloak-json',
    protocol: 'openid-connect',
    downloadOnly: false,
    displayType: 'Keycloak OIDC JSON',
    helpText: 'The file keycloak.json for adapters of OpenID Connect. Put it where the adapter expects it.',
    filename: 'keycloak.json',
    mediaType: 'application/json',
    render: renderAdapterJson,
  },
  {
    id: 'keycloak-oidc-jboss-subsystem',
    protocol: 'openid-connect',
    downloadOnly: false,
    displayType: 'Keycloak OIDC JBoss Subsystem XML',
    helpText: 'An element for the configuration of a WildFly server. Set the name of your archive.',
    filename: 'keycloak-oidc-subsystem.xml',
    mediaType: XML,
    render: renderSubsystemXml,
  },
  {
    id: 'keycloak-oidc-jboss-subsystem-cli',
    protocol: 'openid-connect',
    downloadOnly: false,
    displayType: 'Keycloak OIDC JBoss Subsystem CLI',
    helpText: 'Commands that configure a WildFly server. Set the name of your archive.',
    filename: 'keycloak-oidc-subsystem.cli',
    mediaType: 'text/plain',
    render: renderSubsystemCommands,
  },
  {
    id: 'keycloak-saml',
    protocol: 'saml',
    downloadOnly: false,
    displayType: 'Keycloak SAML Adapter keycloak-saml.xml',
    helpText: 'The file keycloak-saml.xml for SAML adapters. Put it into the folder WEB-INF of your archive.',
    filename: 'keycloak-saml.xml',
    mediaType: XML,
    render: renderSamlAdapterXml,
  },
  {
    id: 'keycloak-saml-subsystem',
    protocol: 'saml',
    downloadOnly: false,
    displayType: 'Keycloak SAML JBoss Subsystem XML',
    helpText: 'An element for the configuration of a WildFly server. Set the name of your archive.',
    filename: 'keycloak-saml-subsystem.xml',
    mediaType: XML,
    render: renderSamlSubsystemXml,
  },
  {
    id: 'keycloak-saml-subsystem-cli',
    protocol: 'saml',
    downloadOnly: false,
    displayType: 'Keycloak SAML JBoss Subsystem CLI',
    helpText: 'Commands that configure a WildFly server. Set the name of your archive.',
    filename: 'keycloak-saml-subsystem.cli',
    mediaType: 'text/plain',
    render: renderSamlSubsystemCommands,
  },
  {
    id: 'mod-auth-mellon',
    protocol: 'saml',
    downloadOnly: true,
    displayType: 'Mod Auth Mellon files',
    helpText: 'An archive with the files for the module mod_auth_mellon of the Apache web server.',
    filename: 'keycloak-mod-auth-mellon-sp-config.zip',
    mediaType: 'application/zip',
    render: packMellonFiles,
  },
  {
    id: 'saml-sp-descriptor',
    protocol: 'saml',
    downloadOnly: false,
    displayType: 'SAML Metadata SPSSODescriptor',
    helpText: 'The SAML metadata of the client, to be imported by other software.',
    filename: 'saml-sp-metadata.xml',
    mediaType: XML,
    render: renderClientMetadata,
  },
]

/** The formats by protocol. */
export const installationFormats: Readonly<Record<string, readonly InstallationFormat[]>> = Object.groupBy(
  installations.map(({ render: _, ...format }): InstallationFormat => format),
  ({ protocol }) => protocol,
)

/** Returns the format with an id; undefined if there is none. */
export const findInstallation = (id: string): Installation | undefined =>
  installations.find((installation) => installation.id === id)
