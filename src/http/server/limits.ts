// The limits of requests, which docs/security.md lists.

const KB = 1024
const MB = 1024 * KB

/** Bytes of the URL, headers and cookies of a request together. */
export const HEAD_LIMIT = 32 * KB
/** Bytes of a body of an unauthenticated request: forms, and bodies that are not read. */
export const UNAUTHENTICATED_LIMIT = 32 * KB
/** Fields of a form, and query parameters of a URL. */
export const FIELD_LIMIT = 500
/** Bytes of a body of the admin API, such as a realm with its users. It is read after authentication. */
export const ADMIN_LIMIT = 64 * MB
/** Bytes of a body of the protection API, such as a resource with its attributes. It is read after authentication. */
export const PROTECTION_LIMIT = MB
/** Bytes of a webhook, which is GitHub's limit, and the number of webhooks that are read at the same time. */
export const WEBHOOK_LIMIT = 25 * MB
export const WEBHOOKS_AT_ONCE = 4
/** Bytes of an admission review, twice the largest resource of Kubernetes, and the number of reviews that are read at the same time. */
export const REVIEW_LIMIT = 8 * MB
export const REVIEWS_AT_ONCE = 16

/** Milliseconds in which the headers, the body of an unauthenticated request, and a whole request must arrive. */
export const HEAD_TIME = 20_000
export const UNAUTHENTICATED_TIME = 30_000
export const REQUEST_TIME = 5 * 60_000
