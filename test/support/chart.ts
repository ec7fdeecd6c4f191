// The chart, rendered.
import { loadAll } from 'js-yaml'
import { helm } from './helm.ts'
import type { Resource } from './kubernetes.ts'

/** Where it is. */
export const CHART = 'charts/regent'

/** What must be given. */
export const requiredValues: readonly string[] = ['hostname=https://id.example.org', 'database.secret=db', 'key.secret=key']

/** Values as Helm takes them. */
export const toSetFlags = (values: readonly string[]): string[] => values.flatMap((one) => ['--set', one])

/** What a release consists of, or only these templates of it. */
export function renderChart(
  values: readonly string[] = requiredValues,
  { release = 'regent', namespace = 'identity', templates = [] as readonly string[] } = {},
): Resource[] {
  const where = ['--namespace', namespace, '--kube-version', '1.36.0']
  const parts = templates.flatMap((one) => ['--show-only', `templates/${one}.yaml`])
  return loadAll(helm('template', release, CHART, ...where, ...parts, ...toSetFlags(values))).filter(Boolean) as Resource[]
}
