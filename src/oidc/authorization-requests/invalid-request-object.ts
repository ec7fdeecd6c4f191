/** A request object that is not valid. The message is the reason, as Keycloak reports it. */
export class InvalidRequestObject extends Error {}
