/** The reason why a policy cannot be evaluated, such as an invalid pattern. The policy then denies, whatever its logic is. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError'
}
