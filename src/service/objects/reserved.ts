// Names that are a part of addresses.

/** Keycloak: why a name cannot be a part of addresses, where it holds something that means something there. */
export function reservedIn(name: string): string | undefined {
  const [space] = /[ \t\n\v\f\r]/.exec(name) ?? []
  const [reserved] = /[:/?#@!$&()*+,;=[\]\\{}]/.exec(name) ?? []
  if (space !== undefined) return 'Empty Space not allowed.'
  return reserved === undefined ? undefined : `Character '${reserved}' not allowed.`
}
