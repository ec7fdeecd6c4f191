# Commands of Keycloak's admin CLI, as Keycloak's documentation has them. kcadm.test.ts runs each line on two servers.

# Sessions
kcadm.sh config credentials --server "$SERVER" --realm master --user admin --password wrong
kcadm.sh config credentials --server "$SERVER" --realm master --user admin --password admin
kcadm.sh get realms --no-config --server "$SERVER" --realm master --user admin --password admin --fields realm

# Realms
kcadm.sh create realms -s realm=demorealm -s enabled=true
kcadm.sh create realms -s realm=demorealm -s enabled=true
kcadm.sh create realms -s enabled=true
echo '{ "realm": "demorealm2", "enabled": true }' | kcadm.sh create realms -f -
kcadm.sh create realms -s realm=demorealm3 -s enabled=true -o --fields realm,enabled,sslRequired
kcadm.sh get realms --fields realm,enabled
kcadm.sh get realms --fields realm --format csv --noquotes
kcadm.sh get realms --fields realm,enabled,displayName --format csv
kcadm.sh get realms/master --fields '*,-id'
kcadm.sh get realms/demorealm
kcadm.sh get realms/nowhere
kcadm.sh update realms/demorealm -s enabled=false
kcadm.sh update realms/demorealm -s registrationAllowed=true -s registrationEmailAsUsername=true -s rememberMe=true -s verifyEmail=true -s resetPasswordAllowed=true -s editUsernameAllowed=true
kcadm.sh get realms/demorealm --fields registrationAllowed,registrationEmailAsUsername,rememberMe,verifyEmail,resetPasswordAllowed,editUsernameAllowed
kcadm.sh update realms/demorealm -s registrationEmailAsUsername=false -s verifyEmail=false -s enabled=true
kcadm.sh get realms/demorealm > demorealm.json
kcadm.sh update realms/demorealm -f demorealm.json
kcadm.sh update realms/demorealm -f demorealm.json -m -s 'smtpServer.host=mail.example.com' -s 'smtpServer.from=keycloak@example.com' -s 'attributes.team=identity'
kcadm.sh get realms/demorealm --fields 'smtpServer(*),attributes(team)'
kcadm.sh update realms/demorealm -d smtpServer.host -d attributes.team
kcadm.sh update realms/demorealm -s realm=demorealm2
kcadm.sh update realms/demorealm -s accessTokenLifespan=short
kcadm.sh update realms/nowhere -s enabled=false
kcadm.sh get keys -r demorealm
REALM_ID=$(kcadm.sh get realms/demorealm --fields id --format csv --noquotes)
KEYS=$(kcadm.sh create components -r demorealm -s name=rsa-generated -s providerId=rsa-generated -s providerType=org.keycloak.keys.KeyProvider -s parentId=$REALM_ID -s 'config.priority=["101"]' -s 'config.enabled=["true"]' -s 'config.active=["true"]' -s 'config.keySize=["2048"]' -i)
kcadm.sh get keys -r demorealm --fields 'active(*)'
kcadm.sh get components/$KEYS -r demorealm
kcadm.sh update components/$KEYS -r demorealm -s 'config.active=["false"]'
kcadm.sh get components -r demorealm -q type=org.keycloak.keys.KeyProvider --fields 'name,providerId,config(priority,active)'
kcadm.sh delete components/$KEYS -r demorealm
kcadm.sh create components -r demorealm -s name=nothing -s providerId=nothing -s providerType=org.keycloak.keys.KeyProvider -s parentId=$REALM_ID
kcadm.sh get components -r demorealm

# Events
kcadm.sh update events/config -r demorealm -s 'eventsListeners=["jboss-logging"]'
kcadm.sh update events/config -r demorealm -s eventsEnabled=true -s 'enabledEventTypes=["LOGIN_ERROR","REGISTER_ERROR","LOGOUT_ERROR"]' -s eventsExpiration=172800
kcadm.sh get events/config -r demorealm
kcadm.sh update events/config -r demorealm -s enabledEventTypes=[]
kcadm.sh update events/config -r demorealm -s adminEventsEnabled=true -s adminEventsDetailsEnabled=true
kcadm.sh get events/config -r demorealm
kcadm.sh get events -r demorealm --offset 0 --limit 100
kcadm.sh delete events -r demorealm
kcadm.sh create clear-realm-cache -r demorealm -s realm=demorealm
kcadm.sh create clear-user-cache -r demorealm -s realm=demorealm
kcadm.sh create clear-keys-cache -r demorealm -s realm=demorealm

# Clients
CLIENT=$(kcadm.sh create clients -r demorealm -s clientId=test-client -s 'redirectUris=["http://localhost:8980/myapp/*"]' -i)
kcadm.sh create clients -r demorealm -s clientId=test-client
kcadm.sh create clients -r demorealm -s clientId=myapp -s enabled=true -s clientAuthenticatorType=client-secret -s secret=d0b8122f-8dfb-46b7-b68a-f5cc4e25d000
kcadm.sh get clients -r demorealm --fields clientId
kcadm.sh get clients -r demorealm --fields 'clientId,protocolMappers(name,protocolMapper)' --format csv
kcadm.sh get clients -r demorealm -q clientId=myapp
kcadm.sh get clients/$CLIENT -r demorealm
kcadm.sh get clients/nowhere -r demorealm
kcadm.sh get clients/$CLIENT/client-secret -r demorealm
kcadm.sh create clients/$CLIENT/client-secret -r demorealm
kcadm.sh create clients/$CLIENT/client-secret -r demorealm -o
kcadm.sh update clients/$CLIENT -s "secret=newSecret" -r demorealm
kcadm.sh get clients/$CLIENT/client-secret -r demorealm -c
kcadm.sh get clients/$CLIENT/installation/providers/keycloak-oidc-keycloak-json -r demorealm
kcadm.sh get clients/$CLIENT/installation/providers/keycloak-oidc-jboss-subsystem -r demorealm
kcadm.sh get clients/$CLIENT/installation/providers/keycloak-saml -r demorealm
kcadm.sh update clients/$CLIENT -r demorealm -s enabled=false -s publicClient=true -s 'redirectUris=["http://localhost:8080/myapp/*"]' -s baseUrl=http://localhost:8080/myapp -s adminUrl=http://localhost:8080/myapp
kcadm.sh update clients/$CLIENT -r demorealm -s 'redirectUris+=http://localhost:8080/other' -s 'redirectUris[0]=http://localhost:8080/first/*'
kcadm.sh get clients/$CLIENT -r demorealm --fields 'clientId,enabled,publicClient,redirectUris,baseUrl,adminUrl'
kcadm.sh update clients/$CLIENT -r demorealm -d 'redirectUris[0]' -s serviceAccountsEnabled=true -s publicClient=false
kcadm.sh get clients/$CLIENT/service-account-user -r demorealm
kcadm.sh create clients/$CLIENT/protocol-mappers/models -r demorealm -s name=full-name -s protocol=openid-connect -s protocolMapper=oidc-full-name-mapper -s 'config."access.token.claim"=true' -o
kcadm.sh get clients/$CLIENT/default-client-scopes -r demorealm --fields name
kcadm.sh get client-scopes -r demorealm --fields 'name,protocol,attributes(*)'

# Roles
kcadm.sh create roles -r demorealm -s name=user -s 'description=Regular user with a limited set of permissions'
kcadm.sh create roles -r demorealm -s name=user
kcadm.sh create roles -r demorealm -s name=testrole -o
kcadm.sh create clients/$CLIENT/roles -r demorealm -s name=editor -s 'description=Editor can edit, and publish any article'
kcadm.sh create clients/$CLIENT/roles -r demorealm -s name=support -i
kcadm.sh create clients/$CLIENT/roles -r demorealm -s name=operations
kcadm.sh get roles -r demorealm
kcadm.sh get-roles -r demorealm
kcadm.sh get-roles -r demorealm --cclientid realm-management
kcadm.sh get-roles -r demorealm --cclientid nowhere
kcadm.sh get roles/user -r demorealm
kcadm.sh get-roles -r demorealm --rolename user
kcadm.sh get-roles -r demorealm --rolename nowhere
kcadm.sh get-roles -r demorealm --cclientid realm-management --rolename manage-clients
kcadm.sh update roles/user -r demorealm -s 'description=Role representing a regular user'
kcadm.sh update clients/$CLIENT/roles/editor -r demorealm -s 'description=User that can edit, and publish articles'
kcadm.sh get clients/$CLIENT/roles/editor -r demorealm --fields name,description
kcadm.sh add-roles --rname testrole --rolename user -r demorealm
kcadm.sh add-roles --rname testrole --rolename nowhere -r demorealm
kcadm.sh add-roles -r demorealm --rname testrole --cclientid realm-management --rolename create-client --rolename view-users
kcadm.sh get-roles -r demorealm --rname testrole
kcadm.sh get-roles -r demorealm --rname testrole --effective
kcadm.sh get-roles -r demorealm --rname testrole --available
kcadm.sh get-roles -r demorealm --rname testrole --all
kcadm.sh get-roles -r demorealm --rname testrole --cclientid realm-management
kcadm.sh get-roles -r demorealm --rname testrole --cclientid realm-management --effective --fields name
kcadm.sh get-roles -r demorealm --rname testrole --cclientid realm-management --available --fields name
OPERATIONS=$(kcadm.sh get-roles -r demorealm --cclientid test-client --rolename operations --fields id --format csv --noquotes)
kcadm.sh add-roles -r demorealm --cclientid test-client --rid $OPERATIONS --rolename support
kcadm.sh get-roles -r demorealm --rid $OPERATIONS --all
kcadm.sh remove-roles -r demorealm --rname testrole --cclientid realm-management --rolename create-client --rolename view-users
kcadm.sh remove-roles --rname testrole --rolename user -r demorealm
kcadm.sh remove-roles --rname testrole --rolename user -r demorealm

# Users
TESTUSER=$(kcadm.sh create users -r demorealm -s username=testuser -s enabled=true -i)
kcadm.sh create users -r demorealm -s username=testuser
kcadm.sh create users -r demorealm -s enabled=true
kcadm.sh create users -r demorealm -s username=ann -s enabled=true -s email=ann@google.com -s firstName=Ann -s lastName=Able -o --fields username,email
kcadm.sh create users -r demorealm -s username=bad -s email=bad
kcadm.sh get users -r demorealm --offset 0 --limit 1000
kcadm.sh get users -r demorealm -q q=email:google.com --fields username
kcadm.sh get users -r demorealm -q q=username:testuser --fields username
kcadm.sh get users -r demorealm -q email=google.com --fields username --format csv
kcadm.sh get users -r demorealm -q username=testuser
kcadm.sh get users -r demorealm -q username=test -q exact=true
kcadm.sh get users -r demorealm -q q="username:test email:@google.com"
kcadm.sh get users/count -r demorealm
kcadm.sh get users/$TESTUSER -r demorealm
kcadm.sh get users/nobody -r demorealm
kcadm.sh update users/$TESTUSER -r demorealm -s 'requiredActions=["VERIFY_EMAIL","UPDATE_PROFILE","CONFIGURE_TOTP","UPDATE_PASSWORD"]'
kcadm.sh get users/$TESTUSER -r demorealm --fields username,requiredActions
kcadm.sh update users/$TESTUSER -r demorealm -s firstName=Test -s lastName=User -s email=testuser@example.com -s 'attributes.locale=["de"]' -s 'requiredActions=[]'
kcadm.sh get users/$TESTUSER -r demorealm -q userProfileMetadata=true
kcadm.sh set-password -r demorealm --username testuser --new-password NEWPASSWORD --temporary
kcadm.sh set-password -r demorealm --username nobody --new-password NEWPASSWORD
kcadm.sh get users/$TESTUSER/credentials -r demorealm
kcadm.sh update users/$TESTUSER/reset-password -r demorealm -s type=password -s value=NEWPASSWORD -s temporary=false -n
kcadm.sh get-roles -r demorealm --uusername testuser
kcadm.sh get-roles -r demorealm --uusername testuser --effective
kcadm.sh get-roles -r demorealm --uusername testuser --available
kcadm.sh get-roles -r demorealm --uusername testuser --all
kcadm.sh get-roles -r demorealm --uusername nobody
kcadm.sh add-roles --uusername testuser --rolename user -r demorealm
kcadm.sh add-roles -r demorealm --uusername testuser --cclientid realm-management --rolename create-client --rolename view-users
kcadm.sh add-roles -r demorealm --uid $TESTUSER --cclientid test-client --rolename operations
kcadm.sh get-roles -r demorealm --uid $TESTUSER --all
kcadm.sh get-roles -r demorealm --uusername testuser --cclientid realm-management
kcadm.sh get-roles -r demorealm --uusername testuser --cclientid realm-management --effective
kcadm.sh get-roles -r demorealm --uusername testuser --cclientid realm-management --available --fields name
kcadm.sh remove-roles --uusername testuser --rolename user -r demorealm
kcadm.sh remove-roles -r demorealm --uusername testuser --cclientid realm-management --rolename create-client --rolename view-users
kcadm.sh add-roles -r demorealm --uusername service-account-test-client --cclientid realm-management --rolename view-users
kcadm.sh config credentials --config testuser.config --server "$SERVER" --realm demorealm --user testuser --password NEWPASSWORD
kcadm.sh get users --config testuser.config
kcadm.sh get users/$TESTUSER/sessions -r demorealm
SESSION=$(kcadm.sh get users/$TESTUSER/sessions -r demorealm --fields id --format csv --noquotes)
kcadm.sh delete sessions/$SESSION -r demorealm
kcadm.sh delete sessions/$SESSION -r demorealm
kcadm.sh config credentials --config testuser.config --server "$SERVER" --realm demorealm --user testuser --password NEWPASSWORD
kcadm.sh get client-session-stats -r demorealm
kcadm.sh create users/$TESTUSER/logout -r demorealm -s realm=demorealm -s user=$TESTUSER
kcadm.sh get users/$TESTUSER/sessions -r demorealm
kcadm.sh get events -r demorealm --fields type,clientId,error
kcadm.sh get admin-events -r demorealm --limit 3 --fields operationType,resourceType

# Groups
GROUP=$(kcadm.sh create groups -r demorealm -s name=Group -i)
kcadm.sh create groups -r demorealm -s name=Group
kcadm.sh create groups -r demorealm -b '{ "name": "Admins" }'
kcadm.sh get groups -r demorealm
kcadm.sh get groups/$GROUP -r demorealm
kcadm.sh update groups/$GROUP -s 'attributes.email=["group@example.com"]' -r demorealm
kcadm.sh create groups/$GROUP/children -r demorealm -s name=SubGroup
kcadm.sh get groups/$GROUP/children -r demorealm
MOVED=$(kcadm.sh create groups -r demorealm -s name=Moved -i)
kcadm.sh create groups/$GROUP/children -r demorealm -s id=$MOVED -s name=Moved
kcadm.sh get groups -r demorealm -q search=Moved
kcadm.sh get groups/$GROUP -r demorealm --fields 'name,path,attributes(*),subGroupCount'
kcadm.sh update users/$TESTUSER/groups/$GROUP -r demorealm -s realm=demorealm -s userId=$TESTUSER -s groupId=$GROUP -n
kcadm.sh get users/$TESTUSER/groups -r demorealm
kcadm.sh get groups/$GROUP/members -r demorealm --fields username
kcadm.sh get groups/count -r demorealm
kcadm.sh add-roles -r demorealm --gname Group --rolename user
kcadm.sh add-roles -r demorealm --gname Group --cclientid realm-management --rolename create-client --rolename view-users
kcadm.sh get-roles -r demorealm --gname Group
kcadm.sh get-roles -r demorealm --gpath /Group --effective
kcadm.sh get-roles -r demorealm --gname Group --available
kcadm.sh get-roles -r demorealm --gid $GROUP --all
kcadm.sh get-roles -r demorealm --gpath /Group/SubGroup --effective
kcadm.sh get-roles -r demorealm --gname Nowhere
kcadm.sh get-roles -r demorealm --gname Group --cclientid realm-management
kcadm.sh get-roles -r demorealm --gname Group --cclientid realm-management --effective --fields name
kcadm.sh get-roles -r demorealm --gname Group --cclientid realm-management --available --fields name
kcadm.sh remove-roles -r demorealm --gname Group --cclientid realm-management --rolename create-client --rolename view-users
kcadm.sh delete users/$TESTUSER/groups/$GROUP -r demorealm
kcadm.sh delete groups/$GROUP -r demorealm
kcadm.sh delete groups/$GROUP -r demorealm

# Identity providers
kcadm.sh get serverinfo -r demorealm --fields 'identityProviders(*)'
kcadm.sh get serverinfo -r demorealm --fields '*'
kcadm.sh create identity-provider/instances -r demorealm -s alias=keycloak-oidc -s providerId=keycloak-oidc -s enabled=true -s 'config.useJwksUrl="true"' -s config.authorizationUrl=http://localhost:8180/realms/demorealm/protocol/openid-connect/auth -s config.tokenUrl=http://localhost:8180/realms/demorealm/protocol/openid-connect/token -s config.clientId=demo-oidc-provider -s config.clientSecret=secret
kcadm.sh create identity-provider/instances -r demorealm -s alias=keycloak-oidc -s providerId=keycloak-oidc
kcadm.sh create identity-provider/instances -r demorealm -s alias=saml -s providerId=saml -s enabled=true -s 'config.useJwksUrl="true"' -s config.singleSignOnServiceUrl=http://localhost:8180/realms/saml-broker-realm/protocol/saml -s config.nameIDPolicyFormat=urn:oasis:names:tc:SAML:2.0:nameid-format:persistent -s config.signatureAlgorithm=RSA_SHA256
kcadm.sh create identity-provider/instances -r demorealm -s alias=facebook -s providerId=facebook -s enabled=true -s 'config.useJwksUrl="true"' -s config.clientId=FACEBOOK_CLIENT_ID -s config.clientSecret=FACEBOOK_CLIENT_SECRET
kcadm.sh create identity-provider/instances -r demorealm -s alias=google -s providerId=google -s enabled=true -s 'config.useJwksUrl="true"' -s config.clientId=GOOGLE_CLIENT_ID -s config.clientSecret=GOOGLE_CLIENT_SECRET -o
kcadm.sh create identity-provider/instances -r demorealm -s alias=nothing -s providerId=nothing
kcadm.sh get identity-provider/instances -r demorealm --fields alias,providerId,enabled
kcadm.sh get identity-provider/instances/facebook -r demorealm
kcadm.sh get identity-provider/instances/keycloak-oidc -r demorealm --fields 'alias,config(*)'
kcadm.sh create identity-provider/instances/keycloak-oidc/mappers -r demorealm -s name=locale -s identityProviderAlias=keycloak-oidc -s identityProviderMapper=oidc-user-attribute-idp-mapper -s config.claim=locale -s 'config."user.attribute"=locale' -s config.syncMode=INHERIT
kcadm.sh get identity-provider/instances/keycloak-oidc/mappers -r demorealm
kcadm.sh delete identity-provider/instances/facebook -r demorealm
kcadm.sh delete identity-provider/instances/facebook -r demorealm

# User storage
LDAP=$(kcadm.sh create components -r demorealm -s name=kerberos-ldap-provider -s providerId=ldap -s providerType=org.keycloak.storage.UserStorageProvider -s parentId=$REALM_ID -s 'config.priority=["1"]' -s 'config.fullSyncPeriod=["-1"]' -s 'config.changedSyncPeriod=["-1"]' -s 'config.cachePolicy=["DEFAULT"]' -s config.evictionDay=[] -s config.evictionHour=[] -s config.evictionMinute=[] -s config.maxLifespan=[] -s 'config.batchSizeForSync=["1000"]' -s 'config.editMode=["WRITABLE"]' -s 'config.syncRegistrations=["false"]' -s 'config.vendor=["other"]' -s 'config.usernameLDAPAttribute=["uid"]' -s 'config.rdnLDAPAttribute=["uid"]' -s 'config.uuidLDAPAttribute=["entryUUID"]' -s 'config.userObjectClasses=["inetOrgPerson, organizationalPerson"]' -s 'config.connectionUrl=["ldap://localhost:10389"]' -s 'config.usersDn=["ou=People,dc=keycloak,dc=org"]' -s 'config.authType=["simple"]' -s 'config.bindDn=["uid=admin,ou=system"]' -s 'config.bindCredential=["secret"]' -s 'config.searchScope=["1"]' -s 'config.useTruststoreSpi=["always"]' -s 'config.connectionPooling=["true"]' -s 'config.pagination=["true"]' -i)
kcadm.sh get components/$LDAP -r demorealm
kcadm.sh create components -r demorealm -s name=hardcoded-ldap-role-mapper -s providerId=hardcoded-ldap-role-mapper -s providerType=org.keycloak.storage.ldap.mappers.LDAPStorageMapper -s parentId=$LDAP -s 'config.role=["realm-management.create-client"]'
kcadm.sh create components -r demorealm -s name=user-attribute-ldap-mapper -s providerId=user-attribute-ldap-mapper -s providerType=org.keycloak.storage.ldap.mappers.LDAPStorageMapper -s parentId=$LDAP -s 'config."user.model.attribute"=["email"]' -s 'config."ldap.attribute"=["mail"]' -s 'config."read.only"=["false"]' -s 'config."always.read.value.from.ldap"=["false"]' -s 'config."is.mandatory.in.ldap"=["false"]'
kcadm.sh create "user-storage/$LDAP/sync?action=triggerFullSync" -r demorealm
kcadm.sh create testLDAPConnection -r demorealm -s action=testConnection -s bindCredential=secret -s bindDn=uid=admin,ou=system -s connectionUrl=ldap://localhost:10389 -s useTruststoreSpi=always
kcadm.sh delete components/$LDAP -r demorealm

# Authentication
kcadm.sh update realms/demorealm -s 'passwordPolicy="hashIterations and specialChars and upperCase and digits and notUsername and length"'
kcadm.sh get realms/demorealm --fields passwordPolicy
kcadm.sh update realms/demorealm -s 'passwordPolicy="hashIterations(300000) and specialChars(2) and upperCase(2) and lowerCase(2) and digits(2) and length(9) and notUsername and passwordHistory(4)"'
kcadm.sh update realms/demorealm -s 'passwordPolicy="nothing(2)"'
kcadm.sh set-password -r demorealm --username testuser --new-password short
kcadm.sh get authentication/flows -r demorealm
kcadm.sh get authentication/flows -r demorealm --fields alias,builtIn --format csv
kcadm.sh create authentication/flows/browser/copy -r demorealm -s 'newName=Copy of browser'
kcadm.sh create authentication/flows -r demorealm -s 'alias=empty' -s providerId=basic-flow -s topLevel=true -s builtIn=false
kcadm.sh create authentication/flows/empty/executions/execution -r demorealm -s provider=auth-username-password-form
kcadm.sh get authentication/flows/Copy%20of%20browser/executions -r demorealm
EXECUTION=$(kcadm.sh create authentication/flows/empty/executions/execution -r demorealm -s provider=auth-x509-client-username-form -i)
CONFIG=$(kcadm.sh create "authentication/executions/$EXECUTION/config" -r demorealm -b '{"config":{"x509-cert-auth.mapping-source-selection":"Match SubjectDN using regular expression","x509-cert-auth.regular-expression":"(.*?)(?:$)","x509-cert-auth.mapper-selection":"Custom Attribute Mapper","x509-cert-auth.crl-checking-enabled":"","x509-cert-auth.crldp-checking-enabled":false},"alias":"my_otp_config"}' -i)
kcadm.sh get "authentication/config/$CONFIG" -r demorealm
kcadm.sh update "authentication/config/$CONFIG" -r demorealm -b "{\"id\":\"$CONFIG\",\"alias\":\"my_otp_config\",\"config\":{\"x509-cert-auth.crl-checking-enabled\":\"true\"}}"
kcadm.sh get "authentication/config/$CONFIG" -r demorealm
kcadm.sh get authentication/flows/empty/executions -r demorealm
kcadm.sh delete "authentication/config/$CONFIG" -r demorealm
kcadm.sh get authentication/required-actions -r demorealm
kcadm.sh update authentication/required-actions/VERIFY_PROFILE -r demorealm -s enabled=false
kcadm.sh get attack-detection/brute-force/users/$TESTUSER -r demorealm
kcadm.sh delete attack-detection/brute-force/users/$TESTUSER -r demorealm
kcadm.sh delete attack-detection/brute-force/users -r demorealm

# Further settings
kcadm.sh get users/profile -r demorealm
kcadm.sh update users/profile -r demorealm -s unmanagedAttributePolicy=ENABLED
kcadm.sh create client-scopes -r demorealm -s name=custom -s protocol=openid-connect -s 'attributes."include.in.token.scope"=true'
kcadm.sh update realms/demorealm -s organizationsEnabled=true
kcadm.sh create organizations -r demorealm -s name=Acme -s alias=acme -s 'domains=[{"name":"acme.example"}]'
kcadm.sh get organizations -r demorealm
kcadm.sh get users/$TESTUSER/role-mappings -r demorealm
kcadm.sh get client-policies/profiles -r demorealm -q include-global-profiles=true
kcadm.sh get default-groups -r demorealm
kcadm.sh create clients-initial-access -r demorealm -s expiration=60 -s count=2 -o --fields count,expiration,remainingCount
kcadm.sh get authentication/flows/empty/executions -r demorealm --fields providerId,requirement --format csv
kcadm.sh get identity-provider/instances -r demorealm --fields alias,providerId,enabled --format csv

# Imports
kcadm.sh create partialImport -r demorealm2 -s ifResourceExists=FAIL -o -f demorealm.json
kcadm.sh create partialImport -r demorealm2 -o -b '{ "ifResourceExists": "SKIP", "roles": { "realm": [{ "name": "imported" }] }, "users": [{ "username": "imported", "enabled": true }] }'
kcadm.sh create partialImport -r demorealm2 -o -b '{ "ifResourceExists": "FAIL", "users": [{ "username": "imported" }] }'
kcadm.sh create partialImport -r demorealm2 -o -b '{ "ifResourceExists": "OVERWRITE", "users": [{ "username": "imported", "enabled": false }] }'
kcadm.sh create "partial-export?exportClients=true&exportGroupsAndRoles=true" -r demorealm2 -o --fields realm,enabled
kcadm.sh get users -r demorealm2 --fields username,enabled

# Headers and errors
kcadm.sh get users/count -r demorealm2 -H
kcadm.sh create roles -r demorealm2 -s name=headed -H
kcadm.sh get "$SERVER/admin/realms/demorealm2/roles/headed" -r demorealm2
kcadm.sh get nowhere -r demorealm2
kcadm.sh get users -r demorealm2 -x -q max=many
kcadm.sh get users -r nowhere
kcadm.sh create users -r demorealm2 -b 'not JSON'
kcadm.sh update users/nobody -r demorealm2 -s enabled=false -n

# Deletions
kcadm.sh delete clients/$CLIENT/roles/editor -r demorealm
kcadm.sh delete clients/$CLIENT -r demorealm
kcadm.sh delete clients/$CLIENT -r demorealm
kcadm.sh delete roles/user -r demorealm
kcadm.sh delete roles/user -r demorealm
kcadm.sh delete users/$TESTUSER -r demorealm
kcadm.sh delete users/$TESTUSER -r demorealm
kcadm.sh delete realms/demorealm
kcadm.sh delete realms/demorealm2
kcadm.sh delete realms/demorealm3
kcadm.sh delete realms/demorealm
kcadm.sh get realms --fields realm,enabled
