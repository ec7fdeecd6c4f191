// Files with private keys and certificates, protected by passwords: Java key stores and PKCS#12.

export const KEY_STORE_FORMATS = ['JKS', 'PKCS12'] as const

/** The format of a key store. */
export type KeyStoreFormat = (typeof KEY_STORE_FORMATS)[number]

/** A private key with its certificate. */
export interface CertifiedKey {
  readonly alias: string
  /** PKCS #8, as DER. */
  readonly privateKey: Uint8Array
  /** X.509, as DER. */
  readonly certificate: Uint8Array
}

/** A certificate whose key is not in the store. */
export interface TrustedCertificate {
  readonly alias: string
  /** X.509, as DER. */
  readonly certificate: Uint8Array
}

/** The content of a key store to write. */
export interface KeyStoreContent {
  readonly key?: CertifiedKey | undefined
  readonly trusted: readonly TrustedCertificate[]
}

/** The passwords of a key store. In PKCS#12, keys have the password of the store, and `keyPassword` is ignored. */
export interface KeyStorePasswords {
  /** Absent: the integrity of a Java key store is not checked. */
  readonly storePassword?: string | undefined
  /** Absent: the private key of a Java key store is not read. */
  readonly keyPassword?: string | undefined
}

/** The passwords of a key store to write. In PKCS#12, `keyPassword` is ignored. */
export interface NewKeyStorePasswords {
  readonly storePassword: string
  readonly keyPassword: string
}

/** An entry that was read: a key, or a trusted certificate. All members are DER. */
export interface KeyStoreEntry {
  readonly privateKey?: Uint8Array
  readonly certificate?: Uint8Array
}

/** The reason for which an entry cannot be read. */
export type KeyStoreProblem = 'format' | 'store password' | 'characters' | 'key password' | 'alias' | 'time'

/** Reports why an entry of a key store cannot be read. */
export class KeyStoreError extends Error {
  readonly problem: KeyStoreProblem
  constructor(problem: KeyStoreProblem, options?: ErrorOptions) {
    super(`The key store cannot be read: ${problem}.`, options)
    this.problem = problem
  }
}

/** Whether two aliases are equal. Java ignores their case. */
export function isSameAlias(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
