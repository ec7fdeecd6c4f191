// The algorithms of encrypted tokens, which jose supports. RFC 7518, sections 4 and 5.

/** The algorithms that encrypt the key of a token for the holder of a private key. */
export const KEY_ENCRYPTION_ALGORITHMS = [
  'RSA-OAEP',
  'RSA-OAEP-256',
  'ECDH-ES',
  'ECDH-ES+A128KW',
  'ECDH-ES+A192KW',
  'ECDH-ES+A256KW',
]

/** The algorithms that encrypt the content of a token. */
export const CONTENT_ENCRYPTION_ALGORITHMS = [
  'A128CBC-HS256',
  'A192CBC-HS384',
  'A256CBC-HS512',
  'A128GCM',
  'A192GCM',
  'A256GCM',
]
