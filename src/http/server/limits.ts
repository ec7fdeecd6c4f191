// What requests may take of the server: docs/security.md lists it.

const KB = 1024
const MB = 1024 * KB

/** Bytes of a request's address, headers and cookies together. */
export const HEAD_LIMIT = 32 * KB
/** Bytes of a body whose sender is not known: forms of browsers and applications, and bodies that nobody reads. */
export const UNAUTHENTICATED_LIMIT = 32 * KB
/** Fields of a form, and parameters of an address. */
export const FIELD_LIMIT = 500
/** Bytes of a body of the admin API: a whole realm with its users must fit. Read once the caller is known. */
export const ADMIN_LIMIT = 64 * MB
/** Bytes of a webhook, as GitHub limits them, and how many bodies of webhooks are read at a time. */
export const WEBHOOK_LIMIT = 25 * MB
export const WEBHOOKS_AT_ONCE = 4
/** Bytes of an admission review, twice the largest resource that API servers take, and how many are read at a time. */
export const REVIEW_LIMIT = 8 * MB
export const REVIEWS_AT_ONCE = 16

/** Milliseconds in which the headers must arrive, a body whose sender is not known, and a whole request. */
export const HEAD_TIME = 20_000
export const UNAUTHENTICATED_TIME = 30_000
export const REQUEST_TIME = 5 * 60_000
