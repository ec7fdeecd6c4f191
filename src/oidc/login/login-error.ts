import { RuntimeRefusal } from '../../service/context/errors.ts'

/** A login that fails with an error page. */
export class LoginError extends RuntimeRefusal {
  /** The key of the text of the page. */
  readonly key: string
  /** Keycloak: the error code of the user event. */
  readonly error: string
  /** The parameters of the text. */
  readonly params: readonly (string | number)[]
  /** The HTTP status. */
  readonly status: number
  constructor(
    key: string,
    error: string,
    { params = [], status = 400 }: { readonly params?: readonly (string | number)[]; readonly status?: number } = {},
  ) {
    super(key)
    this.key = key
    this.error = error
    this.params = params
    this.status = status
  }
}
