// Names of the sources in Kubernetes: each namespace is a source, and so is each RealmSource in it.
const PREFIX = 'kubernetes:'

/** Returns the name of the source of the resources in a namespace. */
export const toSourceName = (namespace: string): string => `${PREFIX}${namespace}`

/** Returns the name of the source of a RealmSource. */
export const toGitSourceName = (namespace: string, name: string): string => `${toSourceName(namespace)}/${name}`

/** Returns the namespace of a source in Kubernetes, and whether the source is a RealmSource; undefined for other sources. */
export function parseSourceName(source: string): { readonly namespace: string; readonly isGit: boolean } | undefined {
  if (!source.startsWith(PREFIX)) return undefined
  const [namespace = '', name] = source.slice(PREFIX.length).split('/')
  return { namespace, isGit: name !== undefined }
}
