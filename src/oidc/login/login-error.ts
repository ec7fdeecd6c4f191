import { Refusal } from '../../service/context/errors.ts'

/** A log-in that cannot go on: a text by its key for the person, and the reference server's word for the event. */
export class LoginError extends Refusal {
  readonly key: string
  readonly error: string
  readonly about: readonly (string | number)[]
  readonly status: number
  constructor(key: string, error: string, about: readonly (string | number)[] = [], status = 400) {
    super(key)
    this.key = key
    this.error = error
    this.about = about
    this.status = status
  }
}
