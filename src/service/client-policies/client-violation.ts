/** The refusal of a client by an executor. */
export interface ClientViolation {
  /** Keycloak: the OAuth error code. */
  readonly error: string
  readonly message: string
  /** The path of the field that breaks the rule. */
  readonly field: string
}
