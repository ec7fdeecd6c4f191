import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.keycloak.admin.client.CreatedResponseUtil;
import org.keycloak.admin.client.Keycloak;
import org.keycloak.admin.client.resource.GroupResource;
import org.keycloak.admin.client.resource.RealmResource;
import org.keycloak.admin.client.resource.RoleMappingResource;
import org.keycloak.admin.client.resource.RoleScopeResource;
import org.keycloak.admin.client.resource.UserResource;
import org.keycloak.representations.idm.ClientRepresentation;
import org.keycloak.representations.idm.CredentialRepresentation;
import org.keycloak.representations.idm.FederatedIdentityRepresentation;
import org.keycloak.representations.idm.GroupRepresentation;
import org.keycloak.representations.idm.IdentityProviderRepresentation;
import org.keycloak.representations.idm.RealmRepresentation;
import org.keycloak.representations.idm.RoleRepresentation;
import org.keycloak.representations.idm.UserRepresentation;
import org.keycloak.representations.userprofile.config.UPConfig;

/** Calls every method of the client for realms and users. Fails at the first wrong response. */
public final class Tour {
  private static final String SERVER =
      Objects.requireNonNullElse(System.getenv("REGENT_TOUR_SERVER"), "http://127.0.0.1:8080");
  private static final String NAME = "tour-" + UUID.randomUUID().toString().substring(0, 8);

  private final Keycloak keycloak;
  private final RealmResource realm;
  private final Mailbox mailbox = new Mailbox();
  private String shop;

  private Tour(Keycloak keycloak) throws IOException {
    this.keycloak = keycloak;
    this.realm = keycloak.realm(NAME);
  }

  public static void main(String[] arguments) throws Exception {
    try (Keycloak keycloak = Keycloak.getInstance(SERVER, "master", "admin", "admin", "admin-cli")) {
      RealmRepresentation representation = new RealmRepresentation();
      representation.setRealm(NAME);
      representation.setEnabled(true);
      keycloak.realms().create(representation);
      Tour tour = new Tour(keycloak);
      try {
        tour.createObjects();
        tour.realms();
        tour.events();
        tour.users();
        tour.credentials();
        tour.sessions();
        tour.emails();
        tour.groups();
        tour.roles();
        tour.mappings();
        tour.attackDetection();
      } finally {
        tour.realm.remove();
      }
      assertNotFound("the deleted realm", () -> tour.realm.toRepresentation());
      System.out.println("The tour of " + SERVER + " is complete: all responses are correct.");
    }
  }

  private void createObjects() {
    shop = getId(realm.clients().create(clientNamed("shop")));
    for (String name : List.of("buyer", "seller")) realm.clients().get(shop).roles().create(role(name));
    for (String name : List.of("reader", "writer")) realm.roles().create(role(name));
  }

  private void realms() throws Exception {
    RealmRepresentation representation = realm.toRepresentation();
    representation.setDisplayName("Tour");
    representation.setBruteForceProtected(true);
    representation.setFailureFactor(3);
    // These logins follow each other fast: only the number of failures counts.
    representation.setQuickLoginCheckMilliSeconds(1L);
    representation.setSmtpServer(Map.of("host", "127.0.0.1", "port", mailbox.port(), "from", "sso@example.org"));
    realm.update(representation);
    check("the updated realm", "Tour", realm.toRepresentation().getDisplayName());

    String group = getId(realm.groups().add(group("new users")));
    realm.addDefaultGroup(group);
    check("default groups", List.of("new users"), names(realm.getDefaultGroups(), GroupRepresentation::getName));
    check("a group by path", group, realm.getGroupByPath("new users").getId());
    realm.removeDefaultGroup(group);
    check("no default groups", List.of(), realm.getDefaultGroups());
    realm.groups().group(group).remove();

    String scope = realm.clientScopes().findAll().get(0).getId();
    realm.removeDefaultDefaultClientScope(scope);
    realm.removeDefaultOptionalClientScope(scope);
    int optional = realm.getDefaultOptionalClientScopes().size();
    realm.addDefaultOptionalClientScope(scope);
    check("one more optional scope", optional + 1, realm.getDefaultOptionalClientScopes().size());
    realm.removeDefaultOptionalClientScope(scope);
    int defaults = realm.getDefaultDefaultClientScopes().size();
    realm.addDefaultDefaultClientScope(scope);
    check("one more default scope", defaults + 1, realm.getDefaultDefaultClientScopes().size());

    realm.clearRealmCache();
    realm.clearUserCache();
    realm.clearKeysCache();
    realm.clearCrlCache();
    check("clients to notify", List.of(), nullAsEmpty(realm.pushRevocation().getSuccessRequests()));
  }

  private void events() throws Exception {
    var config = realm.getRealmEventsConfig();
    config.setEventsEnabled(true);
    config.setAdminEventsEnabled(true);
    realm.updateRealmEventsConfig(config);
    check("the configuration of events", true, realm.getRealmEventsConfig().isAdminEventsEnabled());
    String id = createUser("eve");
    check("a wrong password", 400, logIn("eve", "wrong", "openid"));
    var events = realm.getEvents(List.of("LOGIN_ERROR"), null, id, null, null, null, 0, 5);
    check("the event of a failed login", "invalid_user_credentials", events.get(0).getError());
    check("all events", 1, realm.getEvents().size());
    var adminEvents = realm.getAdminEvents(
        List.of("CREATE"), null, null, null, null, "users/*", List.of("USER"), null, null, 0, 5, "desc");
    check("the event of a creation", "users/" + id, adminEvents.get(0).getResourcePath());
    realm.clearEvents();
    realm.clearAdminEvents();
    check("no events", 0, realm.getEvents().size() + realm.getAdminEvents().size());
    config.setEventsEnabled(false);
    config.setAdminEventsEnabled(false);
    realm.updateRealmEventsConfig(config);
    realm.users().delete(id).close();
  }

  private void users() {
    UserRepresentation ann = user("ann");
    ann.setAttributes(Map.of("colour", List.of("blue")));
    UPConfig profile = realm.users().userProfile().getConfiguration();
    profile.setUnmanagedAttributePolicy(UPConfig.UnmanagedAttributePolicy.ADMIN_EDIT);
    realm.users().userProfile().update(profile);
    var metadata = realm.users().userProfile().getMetadata();
    check("the metadata of the profile", "username", metadata.getAttributes().get(0).getName());
    String id = getId(realm.users().create(ann));
    createUser("annette");
    List<UserRepresentation> matches = realm.users().search("ann", 0, 5);
    check("a search by prefix", List.of("ann", "annette"), names(matches, UserRepresentation::getUsername));
    check("an exact search", 1, realm.users().searchByUsername("ann", true).size());
    check("a search by email address", 1, realm.users().searchByEmail("ann@", false).size());
    check("a search by attribute", 1, realm.users().searchByAttributes("colour:blue").size());
    check("a search by name", 2, realm.users().search(null, null, "Body", "ann", 0, 5).size());
    check("a count", 2, realm.users().count("ann"));
    check("a list", 2, realm.users().list(0, 5).size());

    UserResource user = realm.users().get(id);
    ann = user.toRepresentation();
    ann.setFirstName("Anna");
    user.update(ann);
    check("the updated user", "Anna", user.toRepresentation().getFirstName());
    check("its profile metadata", 4, user.toRepresentation(true).getUserProfileMetadata().getAttributes().size());
    check("unmanaged attributes", Map.of("colour", List.of("blue")), user.getUnmanagedAttributes());

    IdentityProviderRepresentation provider = new IdentityProviderRepresentation();
    provider.setAlias("op");
    provider.setProviderId("oidc");
    provider.setConfig(Map.of("clientId", "x"));
    realm.identityProviders().create(provider).close();
    FederatedIdentityRepresentation account = new FederatedIdentityRepresentation();
    account.setUserId("7");
    account.setUserName("ann7");
    check("a federated identity", 204, status(user.addFederatedIdentity("op", account)));
    check("federated identities", "ann7", user.getFederatedIdentity().get(0).getUserName());
    user.removeFederatedIdentity("op");
    check("no federated identities", List.of(), user.getFederatedIdentity());
    check("an impersonation", false, user.impersonate().get("sameRealm"));
    user.remove();
    assertNotFound("the deleted user", user::toRepresentation);
  }

  private void credentials() throws Exception {
    CredentialRepresentation code = new CredentialRepresentation();
    code.setType("otp");
    code.setUserLabel("phone");
    code.setSecretData("{\"value\":\"x\"}");
    code.setCredentialData("{\"subType\":\"totp\"}");
    UserRepresentation bob = user("bob");
    bob.setCredentials(List.of(password("pw"), code));
    UserResource user = realm.users().get(getId(realm.users().create(bob)));
    var credentials = user.credentials();
    String first = credentials.get(0).getId();
    String second = credentials.get(1).getId();
    user.setCredentialUserLabel(second, "tablet");
    check("a label", "tablet", user.credentials().get(1).getUserLabel());
    user.moveCredentialToFirst(second);
    check("the moved credential", second, user.credentials().get(0).getId());
    user.moveCredentialAfter(second, first);
    check("the credential moved back", second, user.credentials().get(1).getId());
    user.removeCredential(second);
    check("one remaining credential", 1, user.credentials().size());
    check("credentials of user federation", List.of(), user.getConfiguredUserStorageCredentialTypes());
    user.disableCredentialType(List.of());
    user.resetPassword(password("new"));
    check("the old password", 400, logIn("bob", "pw", "openid"));
    check("the new password", 200, logIn("bob", "new", "openid"));
  }

  private void sessions() throws Exception {
    realm.logoutAll();
    String id = createUser("cleo");
    UserResource user = realm.users().get(id);
    logIn("cleo", "pw", "openid");
    logIn("cleo", "pw", "openid");
    check("two sessions", "2", realm.getClientSessionStats().get(0).get("active"));
    realm.deleteSession(user.getUserSessions().get(0).getId(), false);
    check("one session", 1, user.getUserSessions().size());
    user.logout();
    check("no session", List.of(), user.getUserSessions());
    logIn("cleo", "pw", "openid offline_access");
    String client = realm.clients().findByClientId("admin-cli").get(0).getId();
    check("an offline session", "cleo", user.getOfflineSessions(client).get(0).getUsername());
    check("a consent", "admin-cli", user.getConsents().get(0).get("clientId"));
    user.revokeConsent("admin-cli");
    check("no consent", List.of(), user.getConsents());
    check("no offline session", List.of(), user.getOfflineSessions(client));
  }

  private void emails() throws Exception {
    UserResource user = realm.users().get(createUser("dora"));
    user.executeActionsEmail(List.of("UPDATE_PASSWORD"), 600);
    check("an email with required actions", "dora@example.org", mailbox.next());
    user.sendVerifyEmail();
    check("an email to verify the address", "dora@example.org", mailbox.next());
  }

  private void groups() {
    String id = getId(realm.groups().add(group("staff")));
    GroupResource staff = realm.groups().group(id);
    String sales = getId(staff.subGroup(group("sales")));
    String south = getId(realm.groups().group(sales).subGroup(group("south")));
    check("a count of groups", 3L, realm.groups().count().get("count"));
    check("a count of top-level groups", 1L, realm.groups().count(true).get("count"));
    GroupRepresentation staffTree = realm.groups().groups("south", 0, 5).get(0);
    check("a tree", "/staff/sales/south", staffTree.getSubGroups().get(0).getSubGroups().get(0).getPath());
    check("subgroups", "sales", staff.getSubGroups(0, 5, false).get(0).getName());
    GroupRepresentation representation = staff.toRepresentation();
    representation.setName("team");
    representation.singleAttribute("floor", "1");
    staff.update(representation);
    check("the updated group", "/team", staff.toRepresentation().getPath());
    check("a query", "team", realm.groups().query("floor:1").get(0).getName());
    GroupRepresentation southGroup = realm.groups().group(south).toRepresentation();
    check("a moved group", 204, status(staff.subGroup(southGroup)));
    check("its new path", "/team/south", realm.groups().group(south).toRepresentation().getPath());

    UserResource user = realm.users().get(createUser("finn"));
    user.joinGroup(sales);
    check("members", "finn", realm.groups().group(sales).members(0, 5).get(0).getUsername());
    check("groups of a user", "/team/sales", user.groups().get(0).getPath());
    check("a count of groups of a user", 1L, user.groupsCount(null).get("count"));
    user.leaveGroup(sales);
    check("no groups", List.of(), user.groups());
    staff.remove();
    check("no groups after deletion", List.of(), realm.groups().groups());
  }

  private void roles() {
    check("a search", List.of("reader"), names(realm.roles().list("read", true), RoleRepresentation::getName));
    var reader = realm.roles().get("reader");
    RoleRepresentation representation = reader.toRepresentation();
    String id = representation.getId();
    representation.setDescription("Reads");
    reader.update(representation);
    check("the updated role", "Reads", realm.rolesById().getRole(id).getDescription());
    representation.setDescription("Reads it all");
    realm.rolesById().updateRole(id, representation);
    check("the role updated by id", "Reads it all", reader.toRepresentation().getDescription());

    List<RoleRepresentation> composites = List.of(realmRole("writer"), shopRole("buyer"));
    reader.addComposites(composites);
    check("composites", List.of("buyer", "writer"), names(reader.getRoleComposites(), RoleRepresentation::getName));
    check("realm composites", List.of("writer"), names(reader.getRealmRoleComposites(), RoleRepresentation::getName));
    check("client composites", List.of("buyer"), names(reader.getClientRoleComposites(shop), RoleRepresentation::getName));
    reader.deleteComposites(composites);
    realm.rolesById().addComposites(id, composites);
    check("composites by id", 2, realm.rolesById().getRoleComposites(id).size());
    check("a search of composites", 1, realm.rolesById().searchRoleComposites(id, "writ", 0, 5).size());
    check("realm composites by id", 1, realm.rolesById().getRealmRoleComposites(id).size());
    check("client composites by id", 1, realm.rolesById().getClientRoleComposites(id, shop).size());
    realm.rolesById().deleteComposites(id, composites);
    check("no composites", 0, reader.getRoleComposites().size());

    realm.users().get(createUser("gil")).roles().realmLevel().add(List.of(representation));
    check("users with a role", "gil", reader.getUserMembers(0, 5).get(0).getUsername());
    String group = getId(realm.groups().add(group("readers")));
    realm.groups().group(group).roles().realmLevel().add(List.of(representation));
    check("groups with a role", List.of("readers"), names(reader.getRoleGroupMembers(), GroupRepresentation::getName));
    for (String name : List.of("brief", "short")) realm.roles().create(role(name));
    realm.roles().deleteRole("brief");
    realm.rolesById().deleteRole(realmRole("short").getId());
    assertNotFound("the deleted role", () -> realmRole("short"));
  }

  private void mappings() {
    String group = getId(realm.groups().add(group("writers")));
    mappings(realm.users().get(createUser("hal")).roles());
    mappings(realm.groups().group(group).roles());
  }

  private void mappings(RoleMappingResource mappings) {
    add(mappings.realmLevel(), realmRole("writer"));
    add(mappings.clientLevel(shop), shopRole("seller"));
    check("all roles", "seller", mappings.getAll().getClientMappings().get("shop").getMappings().get(0).getName());
    remove(mappings.clientLevel(shop), shopRole("seller"));
    remove(mappings.realmLevel(), realmRole("writer"));
  }

  private void add(RoleScopeResource mappings, RoleRepresentation role) {
    check("an available role", true, contains(mappings.listAvailable(), role));
    mappings.add(List.of(role));
    check("an added role", true, contains(mappings.listAll(), role));
    check("an effective role", true, contains(mappings.listEffective(), role));
    check("an added role, which is no longer available", false, contains(mappings.listAvailable(), role));
  }

  private void remove(RoleScopeResource mappings, RoleRepresentation role) {
    mappings.remove(List.of(role));
    check("a removed role", false, contains(mappings.listAll(), role));
  }

  private void attackDetection() throws Exception {
    String id = createUser("ike");
    for (int at = 0; at < 3; at++) logIn("ike", "wrong", "openid");
    check("failed logins", 3, realm.attackDetection().bruteForceUserStatus(id).get("numFailures"));
    check("the lockout", true, realm.attackDetection().bruteForceUserStatus(id).get("disabled"));
    realm.attackDetection().clearBruteForceForUser(id);
    check("a login after clearing the lockout", 200, logIn("ike", "pw", "openid"));
    logIn("ike", "wrong", "openid");
    realm.attackDetection().clearAllBruteForce();
    check("no failed logins", 0, realm.attackDetection().bruteForceUserStatus(id).get("numFailures"));
  }

  private static int logIn(String username, String password, String scope) throws Exception {
    var fields = Map.of("grant_type", "password", "client_id", "admin-cli", "username", username, "password", password,
        "scope", scope);
    String form = fields.entrySet().stream()
        .map(field -> field.getKey() + "=" + URLEncoder.encode(field.getValue(), StandardCharsets.UTF_8))
        .collect(Collectors.joining("&"));
    URI address = URI.create(SERVER + "/realms/" + NAME + "/protocol/openid-connect/token");
    HttpRequest request = HttpRequest.newBuilder(address)
        .header("content-type", "application/x-www-form-urlencoded")
        .POST(HttpRequest.BodyPublishers.ofString(form))
        .build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  private String createUser(String username) {
    return getId(realm.users().create(user(username)));
  }

  private RoleRepresentation realmRole(String name) {
    return realm.roles().get(name).toRepresentation();
  }

  private RoleRepresentation shopRole(String name) {
    return realm.clients().get(shop).roles().get(name).toRepresentation();
  }

  private static UserRepresentation user(String username) {
    UserRepresentation user = new UserRepresentation();
    user.setUsername(username);
    user.setEnabled(true);
    user.setEmail(username + "@example.org");
    user.setFirstName("Some");
    user.setLastName("Body");
    user.setCredentials(List.of(password("pw")));
    return user;
  }

  private static CredentialRepresentation password(String value) {
    CredentialRepresentation password = new CredentialRepresentation();
    password.setType("password");
    password.setValue(value);
    password.setTemporary(false);
    return password;
  }

  private static RoleRepresentation role(String name) {
    return new RoleRepresentation(name, null, false);
  }

  private static GroupRepresentation group(String name) {
    GroupRepresentation group = new GroupRepresentation();
    group.setName(name);
    return group;
  }

  private static ClientRepresentation clientNamed(String clientId) {
    ClientRepresentation client = new ClientRepresentation();
    client.setClientId(clientId);
    return client;
  }

  /** Returns the id of the created object. */
  private static String getId(Response response) {
    return CreatedResponseUtil.getCreatedId(response);
  }

  private static int status(Response response) {
    try (response) {
      return response.getStatus();
    }
  }

  private static <T> List<String> names(Collection<T> objects, Function<T, String> name) {
    return objects.stream().map(name).sorted().toList();
  }

  private static boolean contains(List<RoleRepresentation> roles, RoleRepresentation role) {
    return roles.stream().anyMatch(candidate -> candidate.getId().equals(role.getId()));
  }

  private static List<?> nullAsEmpty(List<?> list) {
    return list == null ? List.of() : list;
  }

  private static void check(String name, Object expected, Object actual) {
    if (!Objects.equals(expected, actual))
      throw new AssertionError(name + " should be " + expected + " and is " + actual);
  }

  private static void assertNotFound(String name, Runnable call) {
    try {
      call.run();
    } catch (NotFoundException expected) {
      return;
    }
    throw new AssertionError(name + " still exists");
  }
}
