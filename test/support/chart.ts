// Renders the Helm chart.
import { loadAll } from 'js-yaml'
import { helm } from './helm.ts'
import type { Resource } from './kubernetes.ts'

/** The path of the chart. */
export const CHART = 'charts/regent'

/** The required values. */
export const requiredValues: readonly string[] = [
  'image.repository=registry.example.org/regent',
  'hostname=https://id.example.org',
  'database.secret=db',
  'key.secret=key',
]

/** Returns values as flags of Helm. */
export const toSetFlags = (values: readonly string[]): string[] => values.flatMap((value) => ['--set', value])

/** Returns the resources of a release, or those of some templates. */
export function renderChart(
  values: readonly string[] = requiredValues,
  {
    release = 'regent',
    namespace = 'identity',
    templates = [] as readonly string[],
    flags = [] as readonly string[],
  } = {},
): Resource[] {
  const where = ['--namespace', namespace, '--kube-version', '1.36.0']
  const parts = templates.flatMap((template) => ['--show-only', `templates/${template}.yaml`])
  return loadAll(helm('template', release, CHART, ...where, ...flags, ...parts, ...toSetFlags(values))).filter(
    Boolean,
  ) as Resource[]
}
