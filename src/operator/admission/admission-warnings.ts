// What whoever writes a resource should know of it before it counts. Pure.
import { toRealmText } from '../../reconcile/report/outcome-text.ts'
import { type Member, told } from '../desired.ts'
import type { Resource } from '../resource.ts'
import type { Made } from '../run.ts'

/** What is told one by one. */
const FEW = 5

/** What a run with the resource would bring besides what it states; `all`: those that it could leave out. */
export function adviceOn({ file }: Member, { outcome, faults }: Made, all: readonly Member[]): string[] {
  const isOwn = ({ position }: { readonly position?: { readonly file: string } | undefined }) =>
    position !== undefined && (position.file === file || position.file.startsWith(`${file}/`))
  const ofRealm = outcome.realms.flatMap((realm) => {
    const { name, actions, userEffects: losses, notes, findings, suspended } = toRealmText(realm)
    const gone = [...actions].flatMap((one) => (one.operation === 'delete' ? [`deletes ${one.name}`] : []))
    return [
      ...[...notes, ...findings]
        .filter(isOwn)
        .map((one) => told(file, { position: one.position!, message: one.message })),
      ...few(gone),
      ...few(losses.map((one) => `${one.name}: ${one.text}`)),
      ...(realm.guards ?? []).map(
        ({ message }) => `the plan of the realm ${name} needs an approval then, since it ${message}`,
      ),
      ...(suspended ? [`the realm ${name} is suspended: ${suspended}`] : []),
    ]
  })
  const left = all.flatMap((one) => {
    const fault = one.fault ?? faults.get(one.file)
    return fault && one.file !== file && counts(one.resource)
      ? [`${one.file} does not count then: ${fault.message}`]
      : []
  })
  return [...ofRealm, ...few(left)]
}

const counts = ({ status }: Resource): boolean =>
  status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true

function few(all: readonly string[]): string[] {
  return all.length > FEW ? [...all.slice(0, FEW), `and ${all.length - FEW} more`] : [...all]
}
