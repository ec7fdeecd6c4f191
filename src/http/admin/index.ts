// The operations of Keycloak's admin API that are implemented, in one list.
import { withAcceptResponses } from '../accept.ts'
import { withConditionResponses } from '../conditions.ts'
import type { Operation } from '../operation.ts'
import { withWriteReport } from '../write-report.ts'
import { attackDetectionOperations } from './attack-detection.ts'
import { authenticationExecutionOperations } from './authentication-executions.ts'
import { authenticationFlowOperations } from './authentication-flows.ts'
import { authenticationProviderOperations } from './authentication-providers.ts'
import { authenticatorConfigOperations } from './authenticator-configs.ts'
import { authorizationOperations } from './authorization.ts'
import { clientDescriptionOperations } from './client-descriptions.ts'
import { clientInstallationOperations } from './client-installation.ts'
import { clientPolicyOperations } from './client-policies.ts'
import { clientRegistrationOperations } from './client-registration.ts'
import { clientRuntimeOperations } from './client-runtime.ts'
import { clientScopeOperations } from './client-scopes.ts'
import { clientTypeOperations } from './client-types.ts'
import { clientOperations } from './clients.ts'
import { clientV2Operations } from './clients-v2.ts'
import { componentOperations } from './components.ts'
import { consoleOperations } from './console.ts'
import { consolePageOperations } from './console-pages.ts'
import { emailOperations } from './emails.ts'
import { evaluateScopesOperations } from './evaluate-scopes.ts'
import { eventOperations } from './events.ts'
import { groupOperations } from './groups.ts'
import { identityProviderOperations } from './identity-providers.ts'
import { keyOperations } from './keys.ts'
import { localizationOperations, themeTextOperations } from './localization.ts'
import { managementPermissionOperations } from './management-permissions.ts'
import { organizationGroupOperations } from './organization-groups.ts'
import { organizationInvitationOperations } from './organization-invitations.ts'
import { organizationOperations } from './organizations.ts'
import { partialImportOperations } from './partial-import.ts'
import { protocolMapperOperations } from './protocol-mappers.ts'
import { realmToolOperations } from './realm-tools.ts'
import { realmOperations } from './realms.ts'
import { requiredActionOperations } from './required-actions.ts'
import { roleMappingOperations } from './role-mappings.ts'
import { roleOperations } from './roles.ts'
import { scopeMappingOperations } from './scope-mappings.ts'
import { serverInfoOperations } from './server-info.ts'
import { sessionOperations } from './sessions.ts'
import { userProfileOperations } from './user-profile.ts'
import { userStorageOperations } from './user-storage.ts'
import { userOperations } from './users.ts'
import { verifiableCredentialOperations } from './verifiable-credentials.ts'
import { workflowOperations } from './workflows.ts'

/** The implemented operations. */
export const operations: readonly Operation[] = withWriteReport(
  withConditionResponses(
    withAcceptResponses([
      ...realmOperations,
      ...realmToolOperations,
      ...partialImportOperations,
      ...consoleOperations,
      ...consolePageOperations,
      ...serverInfoOperations,
      ...clientScopeOperations,
      ...clientOperations,
      ...clientV2Operations,
      ...clientDescriptionOperations,
      ...clientRegistrationOperations,
      ...clientRuntimeOperations,
      ...evaluateScopesOperations,
      ...authorizationOperations,
      ...managementPermissionOperations,
      ...protocolMapperOperations,
      ...roleOperations,
      ...roleMappingOperations,
      ...scopeMappingOperations,
      ...eventOperations,
      ...groupOperations,
      ...userProfileOperations,
      ...userOperations,
      ...verifiableCredentialOperations,
      ...sessionOperations,
      ...emailOperations,
      ...attackDetectionOperations,
      ...componentOperations,
      ...userStorageOperations,
      ...keyOperations,
      ...localizationOperations,
      ...themeTextOperations,
      ...clientInstallationOperations,
      ...clientPolicyOperations,
      ...clientTypeOperations,
      ...identityProviderOperations,
      ...authenticationFlowOperations,
      ...authenticationExecutionOperations,
      ...authenticatorConfigOperations,
      ...authenticationProviderOperations,
      ...requiredActionOperations,
      ...organizationOperations,
      ...organizationGroupOperations,
      ...organizationInvitationOperations,
      ...workflowOperations,
    ]),
  ),
)
