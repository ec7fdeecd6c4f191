// Versions of Keycloak, as exports declare them.

/** A version of Keycloak. */
interface KeycloakVersion {
  readonly numbers: readonly number[]
  /** The part behind the numbers, such as `Final`. Keycloak: it makes a version lower than the one without it. */
  readonly qualifier: string | undefined
}

/** Versions of Red Hat Single Sign-On, which follow their own numbers, with the versions of Keycloak that they contain. */
const redHatVersions: readonly [pattern: RegExp, version: string][] = [
  [/^7\.0\.\d+\.GA$/, '1.9.8'],
  [/^7\.1\.\d+\.GA$/, '2.5.5'],
  [/^7\.2\.\d+\.GA$/, '3.4.3'],
  [/^7\.3\.\d+\.GA$/, '4.8.3'],
  [/^7\.4\.\d+\.GA$/, '9.0.3'],
]

/** Whether a version is lower than another. A text that is no version is the lowest. Keycloak: ModelVersion. */
export function isLowerVersion(version: string, other: string): boolean {
  const [a, b] = [parseVersion(version), parseVersion(other)]
  for (const [at, number] of b.numbers.entries()) {
    const difference = (a.numbers[at] ?? 0) - number
    if (difference !== 0) return difference < 0
  }
  return a.qualifier !== undefined && b.qualifier === undefined
}

function parseVersion(text: string): KeycloakVersion {
  const version = redHatVersions.find(([pattern]) => pattern.test(text))?.[1] ?? text
  const [major = '', minor = '', micro = '', qualifier] = version.split('-')[0]!.split('.')
  return {
    numbers: [major, minor, micro].map((number) => (/^\d+$/.test(number) ? Number(number) : 0)),
    qualifier: qualifier?.startsWith('redhat') ? undefined : qualifier,
  }
}
