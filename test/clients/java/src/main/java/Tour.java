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

/** Asks a server for what the client has for realms and people. Fails at the first answer that is wrong. */
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
      RealmRepresentation stated = new RealmRepresentation();
      stated.setRealm(NAME);
      stated.setEnabled(true);
      keycloak.realms().create(stated);
      Tour tour = new Tour(keycloak);
      try {
        tour.prepare();
        tour.realms();
        tour.events();
        tour.people();
        tour.credentials();
        tour.sessions();
        tour.mails();
        tour.groups();
        tour.roles();
        tour.mappings();
        tour.attacks();
      } finally {
        tour.realm.remove();
      }
      refused("a realm that is gone", () -> tour.realm.toRepresentation());
      System.out.println("The tour of " + SERVER + " is over: all answers are as they should be.");
    }
  }

  private void prepare() {
    shop = make(realm.clients().create(clientNamed("shop")));
    for (String name : List.of("buyer", "seller")) realm.clients().get(shop).roles().create(role(name));
    for (String name : List.of("reader", "writer")) realm.roles().create(role(name));
  }

  private void realms() throws Exception {
    RealmRepresentation stated = realm.toRepresentation();
    stated.setDisplayName("Tour");
    stated.setBruteForceProtected(true);
    stated.setFailureFactor(3);
    // Guesses follow each other fast here: only their number counts.
    stated.setQuickLoginCheckMilliSeconds(1L);
    stated.setSmtpServer(Map.of("host", "127.0.0.1", "port", mailbox.port(), "from", "sso@example.org"));
    realm.update(stated);
    same("the changed realm", "Tour", realm.toRepresentation().getDisplayName());

    String group = make(realm.groups().add(group("new people")));
    realm.addDefaultGroup(group);
    same("default groups", List.of("new people"), names(realm.getDefaultGroups(), GroupRepresentation::getName));
    same("a group by path", group, realm.getGroupByPath("new people").getId());
    realm.removeDefaultGroup(group);
    same("no default groups", List.of(), realm.getDefaultGroups());
    realm.groups().group(group).remove();

    String scope = realm.clientScopes().findAll().get(0).getId();
    realm.removeDefaultDefaultClientScope(scope);
    realm.removeDefaultOptionalClientScope(scope);
    int optional = realm.getDefaultOptionalClientScopes().size();
    realm.addDefaultOptionalClientScope(scope);
    same("one more optional scope", optional + 1, realm.getDefaultOptionalClientScopes().size());
    realm.removeDefaultOptionalClientScope(scope);
    int defaults = realm.getDefaultDefaultClientScopes().size();
    realm.addDefaultDefaultClientScope(scope);
    same("one more default scope", defaults + 1, realm.getDefaultDefaultClientScopes().size());

    realm.clearRealmCache();
    realm.clearUserCache();
    realm.clearKeysCache();
    realm.clearCrlCache();
    same("nobody to tell", List.of(), nullAsEmpty(realm.pushRevocation().getSuccessRequests()));
  }

  private void events() throws Exception {
    var config = realm.getRealmEventsConfig();
    config.setEventsEnabled(true);
    config.setAdminEventsEnabled(true);
    realm.updateRealmEventsConfig(config);
    same("the configuration of events", true, realm.getRealmEventsConfig().isAdminEventsEnabled());
    String id = person("eve");
    same("a wrong password", 400, logIn("eve", "wrong", "openid"));
    var events = realm.getEvents(List.of("LOGIN_ERROR"), null, id, null, null, null, 0, 5);
    same("the event of a log-in", "invalid_user_credentials", events.get(0).getError());
    same("all events", 1, realm.getEvents().size());
    var made = realm.getAdminEvents(
        List.of("CREATE"), null, null, null, null, "users/*", List.of("USER"), null, null, 0, 5, "desc");
    same("the event of a creation", "users/" + id, made.get(0).getResourcePath());
    realm.clearEvents();
    realm.clearAdminEvents();
    same("no events", 0, realm.getEvents().size() + realm.getAdminEvents().size());
    config.setEventsEnabled(false);
    config.setAdminEventsEnabled(false);
    realm.updateRealmEventsConfig(config);
    realm.users().delete(id).close();
  }

  private void people() {
    UserRepresentation ann = user("ann");
    ann.setAttributes(Map.of("colour", List.of("blue")));
    UPConfig profile = realm.users().userProfile().getConfiguration();
    profile.setUnmanagedAttributePolicy(UPConfig.UnmanagedAttributePolicy.ADMIN_EDIT);
    realm.users().userProfile().update(profile);
    var metadata = realm.users().userProfile().getMetadata();
    same("the metadata of the profile", "username", metadata.getAttributes().get(0).getName());
    String id = make(realm.users().create(ann));
    person("annette");
    List<UserRepresentation> both = realm.users().search("ann", 0, 5);
    same("a search by prefix", List.of("ann", "annette"), names(both, UserRepresentation::getUsername));
    same("an exact search", 1, realm.users().searchByUsername("ann", true).size());
    same("a search by address", 1, realm.users().searchByEmail("ann@", false).size());
    same("a search by attribute", 1, realm.users().searchByAttributes("colour:blue").size());
    same("a search by name", 2, realm.users().search(null, null, "Body", "ann", 0, 5).size());
    same("a count", 2, realm.users().count("ann"));
    same("a list", 2, realm.users().list(0, 5).size());

    UserResource user = realm.users().get(id);
    ann = user.toRepresentation();
    ann.setFirstName("Anna");
    user.update(ann);
    same("the changed person", "Anna", user.toRepresentation().getFirstName());
    same("with its metadata", 4, user.toRepresentation(true).getUserProfileMetadata().getAttributes().size());
    same("unmanaged attributes", Map.of("colour", List.of("blue")), user.getUnmanagedAttributes());

    IdentityProviderRepresentation provider = new IdentityProviderRepresentation();
    provider.setAlias("op");
    provider.setProviderId("oidc");
    provider.setConfig(Map.of("clientId", "x"));
    realm.identityProviders().create(provider).close();
    FederatedIdentityRepresentation account = new FederatedIdentityRepresentation();
    account.setUserId("7");
    account.setUserName("ann7");
    same("an account elsewhere", 204, status(user.addFederatedIdentity("op", account)));
    same("accounts elsewhere", "ann7", user.getFederatedIdentity().get(0).getUserName());
    user.removeFederatedIdentity("op");
    same("no accounts elsewhere", List.of(), user.getFederatedIdentity());
    same("an impersonation", false, user.impersonate().get("sameRealm"));
    user.remove();
    refused("a person who is gone", user::toRepresentation);
  }

  private void credentials() throws Exception {
    CredentialRepresentation code = new CredentialRepresentation();
    code.setType("otp");
    code.setUserLabel("phone");
    code.setSecretData("{\"value\":\"x\"}");
    code.setCredentialData("{\"subType\":\"totp\"}");
    UserRepresentation bob = user("bob");
    bob.setCredentials(List.of(password("pw"), code));
    UserResource user = realm.users().get(make(realm.users().create(bob)));
    var kept = user.credentials();
    String first = kept.get(0).getId();
    String second = kept.get(1).getId();
    user.setCredentialUserLabel(second, "tablet");
    same("a label", "tablet", user.credentials().get(1).getUserLabel());
    user.moveCredentialToFirst(second);
    same("the other one first", second, user.credentials().get(0).getId());
    user.moveCredentialAfter(second, first);
    same("and second again", second, user.credentials().get(1).getId());
    user.removeCredential(second);
    same("one is left", 1, user.credentials().size());
    same("what a user store keeps", List.of(), user.getConfiguredUserStorageCredentialTypes());
    user.disableCredentialType(List.of());
    user.resetPassword(password("new"));
    same("the old password", 400, logIn("bob", "pw", "openid"));
    same("the new password", 200, logIn("bob", "new", "openid"));
  }

  private void sessions() throws Exception {
    realm.logoutAll();
    String id = person("cleo");
    UserResource user = realm.users().get(id);
    logIn("cleo", "pw", "openid");
    logIn("cleo", "pw", "openid");
    same("two sessions", "2", realm.getClientSessionStats().get(0).get("active"));
    realm.deleteSession(user.getUserSessions().get(0).getId(), false);
    same("one session", 1, user.getUserSessions().size());
    user.logout();
    same("no session", List.of(), user.getUserSessions());
    logIn("cleo", "pw", "openid offline_access");
    String client = realm.clients().findByClientId("admin-cli").get(0).getId();
    same("an offline session", "cleo", user.getOfflineSessions(client).get(0).getUsername());
    same("a consent", "admin-cli", user.getConsents().get(0).get("clientId"));
    user.revokeConsent("admin-cli");
    same("no consent", List.of(), user.getConsents());
    same("no offline session", List.of(), user.getOfflineSessions(client));
  }

  private void mails() throws Exception {
    UserResource user = realm.users().get(person("dora"));
    user.executeActionsEmail(List.of("UPDATE_PASSWORD"), 600);
    same("a mail with actions", "dora@example.org", mailbox.next());
    user.sendVerifyEmail();
    same("a mail to confirm the address", "dora@example.org", mailbox.next());
  }

  private void groups() {
    String id = make(realm.groups().add(group("staff")));
    GroupResource staff = realm.groups().group(id);
    String sales = make(staff.subGroup(group("sales")));
    String south = make(realm.groups().group(sales).subGroup(group("south")));
    same("a count of groups", 3L, realm.groups().count().get("count"));
    same("of those on top", 1L, realm.groups().count(true).get("count"));
    GroupRepresentation found = realm.groups().groups("south", 0, 5).get(0);
    same("a tree", "/staff/sales/south", found.getSubGroups().get(0).getSubGroups().get(0).getPath());
    same("groups below", "sales", staff.getSubGroups(0, 5, false).get(0).getName());
    GroupRepresentation stated = staff.toRepresentation();
    stated.setName("team");
    stated.singleAttribute("floor", "1");
    staff.update(stated);
    same("the changed group", "/team", staff.toRepresentation().getPath());
    same("a query", "team", realm.groups().query("floor:1").get(0).getName());
    GroupRepresentation moved = realm.groups().group(south).toRepresentation();
    same("a group that moves", 204, status(staff.subGroup(moved)));
    same("its new path", "/team/south", realm.groups().group(south).toRepresentation().getPath());

    UserResource user = realm.users().get(person("finn"));
    user.joinGroup(sales);
    same("members", "finn", realm.groups().group(sales).members(0, 5).get(0).getUsername());
    same("groups of a person", "/team/sales", user.groups().get(0).getPath());
    same("how many", 1L, user.groupsCount(null).get("count"));
    user.leaveGroup(sales);
    same("no groups", List.of(), user.groups());
    staff.remove();
    same("no groups any more", List.of(), realm.groups().groups());
  }

  private void roles() {
    same("a search", List.of("reader"), names(realm.roles().list("read", true), RoleRepresentation::getName));
    var reader = realm.roles().get("reader");
    RoleRepresentation stated = reader.toRepresentation();
    String id = stated.getId();
    stated.setDescription("Reads");
    reader.update(stated);
    same("the changed role", "Reads", realm.rolesById().getRole(id).getDescription());
    stated.setDescription("Reads it all");
    realm.rolesById().updateRole(id, stated);
    same("changed again", "Reads it all", reader.toRepresentation().getDescription());

    List<RoleRepresentation> parts = List.of(realmRole("writer"), shopRole("buyer"));
    reader.addComposites(parts);
    same("parts", List.of("buyer", "writer"), names(reader.getRoleComposites(), RoleRepresentation::getName));
    same("of the realm", List.of("writer"), names(reader.getRealmRoleComposites(), RoleRepresentation::getName));
    same("of a client", List.of("buyer"), names(reader.getClientRoleComposites(shop), RoleRepresentation::getName));
    reader.deleteComposites(parts);
    realm.rolesById().addComposites(id, parts);
    same("parts by id", 2, realm.rolesById().getRoleComposites(id).size());
    same("parts that are looked for", 1, realm.rolesById().searchRoleComposites(id, "writ", 0, 5).size());
    same("of the realm by id", 1, realm.rolesById().getRealmRoleComposites(id).size());
    same("of a client by id", 1, realm.rolesById().getClientRoleComposites(id, shop).size());
    realm.rolesById().deleteComposites(id, parts);
    same("no parts", 0, reader.getRoleComposites().size());

    realm.users().get(person("gil")).roles().realmLevel().add(List.of(stated));
    same("people with a role", "gil", reader.getUserMembers(0, 5).get(0).getUsername());
    String group = make(realm.groups().add(group("readers")));
    realm.groups().group(group).roles().realmLevel().add(List.of(stated));
    same("groups with a role", List.of("readers"), names(reader.getRoleGroupMembers(), GroupRepresentation::getName));
    for (String name : List.of("brief", "short")) realm.roles().create(role(name));
    realm.roles().deleteRole("brief");
    realm.rolesById().deleteRole(realmRole("short").getId());
    refused("a role that is gone", () -> realmRole("short"));
  }

  private void mappings() {
    String group = make(realm.groups().add(group("writers")));
    mappings(realm.users().get(person("hal")).roles());
    mappings(realm.groups().group(group).roles());
  }

  private void mappings(RoleMappingResource mappings) {
    give(mappings.realmLevel(), realmRole("writer"));
    give(mappings.clientLevel(shop), shopRole("seller"));
    same("all roles", "seller", mappings.getAll().getClientMappings().get("shop").getMappings().get(0).getName());
    take(mappings.clientLevel(shop), shopRole("seller"));
    take(mappings.realmLevel(), realmRole("writer"));
  }

  private void give(RoleScopeResource set, RoleRepresentation role) {
    same("a role that can be given", true, holds(set.listAvailable(), role));
    set.add(List.of(role));
    same("a role that is given", true, holds(set.listAll(), role));
    same("one that is in effect", true, holds(set.listEffective(), role));
    same("one that cannot be given again", false, holds(set.listAvailable(), role));
  }

  private void take(RoleScopeResource set, RoleRepresentation role) {
    set.remove(List.of(role));
    same("a role that is taken", false, holds(set.listAll(), role));
  }

  private void attacks() throws Exception {
    String id = person("ike");
    for (int at = 0; at < 3; at++) logIn("ike", "wrong", "openid");
    same("guesses", 3, realm.attackDetection().bruteForceUserStatus(id).get("numFailures"));
    same("and their end", true, realm.attackDetection().bruteForceUserStatus(id).get("disabled"));
    realm.attackDetection().clearBruteForceForUser(id);
    same("who is let in again", 200, logIn("ike", "pw", "openid"));
    logIn("ike", "wrong", "openid");
    realm.attackDetection().clearAllBruteForce();
    same("no guesses", 0, realm.attackDetection().bruteForceUserStatus(id).get("numFailures"));
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

  private String person(String username) {
    return make(realm.users().create(user(username)));
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

  /** The id of what was made. */
  private static String make(Response response) {
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

  private static boolean holds(List<RoleRepresentation> roles, RoleRepresentation role) {
    return roles.stream().anyMatch(one -> one.getId().equals(role.getId()));
  }

  private static List<?> nullAsEmpty(List<?> list) {
    return list == null ? List.of() : list;
  }

  private static void same(String what, Object expected, Object actual) {
    if (!Objects.equals(expected, actual))
      throw new AssertionError(what + " should be " + expected + " and is " + actual);
  }

  private static void refused(String what, Runnable call) {
    try {
      call.run();
    } catch (NotFoundException expected) {
      return;
    }
    throw new AssertionError(what + " is still there");
  }
}
