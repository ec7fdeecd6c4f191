/** The formats of texts that a schema can check, with their names. The patterns have no lookahead, which CRDs do not support. */
export const textFormats = {
  email: { title: 'an email address', pattern: /^(\S.*@\S+)?$/ },
  url: { title: 'a URL', pattern: /^\S*$/ },
  locale: { title: 'a locale', pattern: /^([A-Za-z]{1,8}([_-][A-Za-z0-9]{1,8})*)?$/ },
  /** Keycloak: the same characters are refused, but for white space. */
  realmName: { title: 'a name', pattern: /^[^:/?#[\]@!$&'()*+,;=%\t\n\v\f\r"<>\\^`{|}]*$/ },
} as const

/** The name of a format of texts. */
export type TextFormat = keyof typeof textFormats
