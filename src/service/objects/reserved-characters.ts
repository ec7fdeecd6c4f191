/** Returns the message about a character that a name may not contain, since it has a meaning in URLs. Keycloak: its texts. */
export function describeReservedCharacter(name: string): string | undefined {
  const [space] = /[ \t\n\v\f\r]/.exec(name) ?? []
  const [reserved] = /[:/?#@!$&()*+,;=[\]\\{}]/.exec(name) ?? []
  if (space !== undefined) return 'Empty Space not allowed.'
  return reserved === undefined ? undefined : `Character '${reserved}' not allowed.`
}
