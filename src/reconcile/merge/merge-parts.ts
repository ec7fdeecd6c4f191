// What several sources state of one realm, taken together: one desired realm, one plan, one transaction.
import { keysOf, resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key } from '../../kinds/kind.ts'
import { address } from '../../kinds/tree.ts'
import type { Position } from '../../lib/position.ts'
import type { Problem } from '../../realm-file/yaml/problem.ts'
import type { SourceSettings } from '../../service/journal/source-settings.ts'
import type { SourcePosition } from '../model/plan-input.ts'
import { StatedFields, type StatedValue } from '../model/stated-fields.ts'
import type { Unstated } from '../read/unstated.ts'
import { type Claim, claim, contradiction, type DesiredObject, type DesiredRealm } from './desired-realm.ts'

/** What one source states of a realm. */
export interface Part {
  readonly source: string
  /** A git commit, or a digest of the files. */
  readonly revision: string
  /** Of everything that decides what a run does with it. */
  readonly digest: string
  readonly desired: DesiredRealm
  /** What the source settles about itself. */
  readonly settings: SourceSettings
  /** That is something else than when it applied to the realm last. */
  readonly resettled: boolean
  /** What becomes of what it states no more. */
  readonly unstated?: Unstated | undefined
}

/** A part of a source that states nothing of the realm any more. */
export function nothingStated(name: string): DesiredRealm {
  return { name, objects: new Map(), notices: [], named: undefined, generated: new Set(), lists: [] }
}

/** What the parts state together; what they contradict each other in is added to the problems, and told at both places. */
export function together(name: string, parts: readonly Part[], problems: Problem[]): DesiredRealm {
  const stating = parts.map(({ desired }) => desired).filter(({ objects }) => objects.size)
  if (stating.length <= 1) return stating[0] ?? nothingStated(name)
  const objects = new Map<string, DesiredObject>()
  const ids = new Map<string, Claim>()
  for (const object of stating.flatMap((one) => [...one.objects.values()])) {
    const id = address(object.kind, object.key)
    const known = objects.get(id)
    objects.set(id, known ? both(known, object, problems) : object)
    claim(ids, object, problems)
  }
  return {
    name,
    objects,
    notices: stating.flatMap(({ notices }) => notices),
    lists: stating.flatMap(({ lists }) => lists),
    named: stating.every(({ named }) => named) ? stating[0]!.named : undefined,
    generated: new Set(stating.flatMap(({ generated }) => [...generated])),
  }
}

function both(one: DesiredObject, other: DesiredObject, problems: Problem[]): DesiredObject {
  const fields = new Map<string, StatedValue>(one.fields)
  for (const [path, stated] of other.fields) {
    const known = fields.get(path)
    if (!known || resolve(kinds[one.kind], path).field.relation)
      fields.set(path, known ? united(known, stated) : stated)
    else if (JSON.stringify(known.value) !== JSON.stringify(stated.value))
      // Both learn of it: each is somebody's file.
      problems.push(
        contradiction({ ...other, origin: stated.origin }, path, known.origin.locate(path)),
        contradiction({ ...one, origin: known.origin }, path, stated.origin.locate(path)),
      )
  }
  const { kind, key, origin } = one
  const secrets = { ...other.secrets, ...one.secrets }
  return {
    kind,
    key,
    id: one.id ?? other.id,
    renamedFrom: one.renamedFrom ?? other.renamedFrom,
    fields: new StatedFields(
      [...fields.keys()],
      [...fields.values()].map(({ value }) => value),
      [...fields.values()].map(({ origin }) => origin),
    ),
    secrets: Object.keys(secrets).length ? secrets : undefined,
    masked: [...one.masked, ...other.masked],
    literal: [...one.literal, ...other.literal],
    named: one.named && other.named,
    origin: one.named && !other.named ? other.origin : origin,
  }
}

/** Of a relation each source states elements. */
function united(one: StatedValue, other: StatedValue): StatedValue {
  const known = new Set(keysOf(one.value).map((key) => JSON.stringify(key)))
  const more = keysOf(other.value).filter((key) => !known.has(JSON.stringify(key)))
  if (!more.length) return one
  const value = [...keysOf(one.value), ...more]
  return { value, origin: new PlaceOfBoth(one.origin, other.origin, new Set(more.map((key) => JSON.stringify(key)))) }
}

/** Where an object stands of whose relation one source states some elements, and another one the others. */
class PlaceOfBoth implements SourcePosition {
  readonly #one: SourcePosition
  readonly #other: SourcePosition
  readonly #ofOther: ReadonlySet<string>

  constructor(one: SourcePosition, other: SourcePosition, ofOther: ReadonlySet<string>) {
    this.#one = one
    this.#other = other
    this.#ofOther = ofOther
  }

  get position(): Position {
    return this.#one.position
  }

  get parentPosition(): Position {
    return this.#one.parentPosition
  }

  locate(path: string, key?: Key): Position {
    const place = key && this.#ofOther.has(JSON.stringify(key)) ? this.#other : this.#one
    return place.locate(path, key)
  }

  line(number: number): string {
    return this.#one.line(number)
  }
}
