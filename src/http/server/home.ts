// The pages of the server itself: its home page, and the one for addresses that do not exist.
import { escapeHtml } from '../../lib/html.ts'

const STYLE = `:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; color: light-dark(#18181f, #ececf1); background: light-dark(#fcfcfd, #0d0e12) }
body { max-width: 40rem; margin: 10vh auto; padding: 0 1rem; overflow-wrap: anywhere }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem }
a { color: light-dark(#4338ca, #aab5ff) }
p a.main { display: inline-block; padding: .4rem 1rem; border-radius: .4rem; background: #4338ca; color: #fff; text-decoration: none }`

/** The parts of the server that its own pages link to. */
export interface HomeLinks {
  readonly base: string
  readonly hasConsole: boolean
}

function renderDocument(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
<h1>${escapeHtml(title)}</h1>
${content}
</html>
`
}

/** Renders a link to the console, if there is one. */
const renderConsoleLink = ({ base, hasConsole }: HomeLinks): string =>
  hasConsole ? `<p><a class="main" href="${escapeHtml(base)}/console">Open the console</a></p>` : ''

/** Renders the page for an address that does not exist. */
export function renderMissingPage(links: HomeLinks, path: string): string {
  return renderDocument(
    'Page not found',
    `<p>There is nothing at <code>${escapeHtml(path)}</code>.</p>
${renderConsoleLink(links)}
<p><a href="${escapeHtml(links.base)}/">Home page of this server</a></p>`,
  )
}

/** Renders the page that shows the code of a log-in, or the reason why there is none, for a command line without a browser. */
export function renderCodePage({ code, error_description: reason, error }: Readonly<Record<string, unknown>>): string {
  return code === undefined
    ? renderDocument(
        'You are not logged in',
        `<p>The log-in failed: ${escapeHtml(String(reason ?? error ?? 'there is no code'))}.</p>`,
      )
    : renderDocument(
        'Log in with the command line',
        `<p>Copy this code into the terminal in which you have started <code>regent login</code>:</p>
<p><code>${escapeHtml(String(code))}</code></p>
<p>If you have not started it yourself, close this page. Do not give the code to others.</p>`,
      )
}

/** Renders the home page with links to the console, the given realms and the API reference. */
export function renderHomePage(links: HomeLinks, realms: readonly string[]): string {
  const { base } = links
  const items = realms.map((name) => {
    const path = `/realms/${encodeURIComponent(name)}`
    return `<li>${escapeHtml(name)}: <a href="${path}">public information</a>,
      <a href="${path}/.well-known/openid-configuration">OpenID configuration</a></li>`
  })
  return renderDocument(
    'Regent',
    `<p>This is an identity administration server at <code>${escapeHtml(base)}</code>.</p>
${renderConsoleLink(links)}
<p>Its REST API is at <code>${escapeHtml(base)}/admin/realms</code>: see the <a href="/docs">API reference</a>, or its
<a href="/openapi.json">OpenAPI document</a>.</p>
${items.length ? `<h2>Realms</h2>\n<ul>\n${items.join('\n')}\n</ul>` : ''}
<p><a href="/health/ready">Health</a></p>`,
  )
}
