// The home page of the server.
import { escapeHtml } from '../../lib/html.ts'

/** Renders the home page with links to the given realms and the API reference. */
export function renderHomePage(base: string, realms: readonly string[]): string {
  const items = realms.map((name) => {
    const path = `/realms/${encodeURIComponent(name)}`
    return `<li>${escapeHtml(name)}: <a href="${path}">public information</a>,
      <a href="${path}/.well-known/openid-configuration">OpenID configuration</a></li>`
  })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Regent</title>
<style>body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }</style>
<h1>Regent</h1>
<p>This is an identity administration server at <code>${escapeHtml(base)}</code>.</p>
<p>Its REST API is at <code>${escapeHtml(base)}/admin/realms</code>: see the <a href="/docs">API reference</a>, or its
<a href="/openapi.json">OpenAPI document</a>.</p>
${items.length ? `<h2>Realms</h2>\n<ul>\n${items.join('\n')}\n</ul>` : ''}
<p><a href="/health/ready">Health</a></p>
</html>
`
}
