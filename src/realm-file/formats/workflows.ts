// Workflows: an export of a server has them as components, and documents as a list.
import {
  isList,
  isObject,
  type Json,
  type Representation,
  readObject,
  readObjects,
  readText,
  readTextListMap,
} from '../../kinds/json.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** Keycloak: the Java names of workflows and of their steps. */
const WORKFLOW = 'org.keycloak.models.workflow.WorkflowProvider'
const STEP = 'org.keycloak.models.workflow.WorkflowStepProvider'

/** Reads workflows that are components. */
export const workflows: FormatConverter = {
  read(realm, context) {
    const { [WORKFLOW]: exported, ...components } = readObject(realm.components)
    if (!isList(exported)) return realm
    const declared = isList(realm.workflows) ? realm.workflows : []
    const converted = exported.map((component, at) => {
      context.recordMove(['workflows', declared.length + at], ['components', WORKFLOW, at])
      return isObject(component) ? readWorkflow(component, at, context) : component
    })
    return { ...realm, components, workflows: [...declared, ...converted] }
  },
  write: (realm) => realm,
}

/** The settings of a workflow in its component, with the paths of its fields. */
const fields: Readonly<Record<string, readonly [field: string, member?: string]>> = {
  name: ['name'],
  on: ['on'],
  conditions: ['if'],
  'cancel-in-progress': ['concurrency', 'cancel-in-progress'],
  'restart-in-progress': ['concurrency', 'restart-in-progress'],
}

function readWorkflow({ id, config, subComponents }: Representation, at: number, { warn }: ConversionContext): Json {
  // The type of the objects follows from the events.
  const { enabled, supports: _, ...texts } = readTextListMap(config)
  const workflow: Representation = {
    ...(readText(id) !== undefined && { id: readText(id)! }),
    enabled: enabled?.[0] !== 'false',
    steps: readObjects(readObject(subComponents)[STEP]).toSorted(comparePriorities).map(readStep),
  }
  for (const [setting, [text = '']] of Object.entries(texts)) {
    const [field, member] = (Object.hasOwn(fields, setting) && fields[setting]) || []
    if (field === undefined)
      warn(['components', WORKFLOW, at, 'config', setting], `workflow ${texts.name?.[0]}: ${setting} is ignored`)
    else workflow[field] = member === undefined ? text : { ...readObject(workflow[field]), [member]: text }
  }
  return workflow
}

const getPriority = ({ config }: Representation) => Number(readTextListMap(config).priority?.[0] ?? 0)

const comparePriorities = (a: Representation, b: Representation): number => getPriority(a) - getPriority(b)

function readStep({ providerId = null, config }: Representation): Representation {
  const { after, priority: _, ...settings } = readTextListMap(config)
  const entries = Object.entries(settings).map(([name, texts]) => [name, texts.length === 1 ? texts[0]! : texts])
  return {
    uses: providerId,
    ...(after?.[0] !== undefined && { after: after[0] }),
    ...(entries.length && { with: Object.fromEntries(entries) }),
  }
}
