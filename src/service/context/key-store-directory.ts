// Key stores of realms in files, to which key providers of the type `java-keystore` refer.
import { readListedFile } from './vault-directory.ts'

/** The key stores in a directory. */
export interface KeyStoreDirectory {
  /** Whether there is a directory. */
  readonly isSet: boolean
  /** The server that uses the documents has its own: nothing is known of its files. */
  readonly isUnknown?: true
  /** Returns the content of a file; undefined if the directory has no such file, or it cannot be read. */
  read(fileName: string): Promise<Uint8Array | undefined>
}

/** The key stores of a server that is not there. */
export const UNKNOWN_KEY_STORES: KeyStoreDirectory = { isSet: true, isUnknown: true, read: async () => undefined }

/** Returns the key stores of a directory; none without a directory. */
export function openKeyStoreDirectory(directory: string | undefined): KeyStoreDirectory {
  return {
    isSet: directory !== undefined,
    async read(fileName) {
      return directory === undefined ? undefined : readListedFile(directory, fileName)
    },
  }
}
