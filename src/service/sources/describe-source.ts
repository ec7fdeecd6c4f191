/** Returns the name of a source in messages. Sources in Kubernetes are named by their namespace, and RealmSources also by their own name. */
export function describeSource(source: string): string {
  const [, namespace, name] = /^kubernetes:([^/]+)(?:\/(.+))?$/.exec(source) ?? []
  if (namespace === undefined) return `source ${source}`
  return name === undefined ? `namespace ${namespace}` : `RealmSource ${namespace}/${name}`
}
