// A folder with a made-up admin console in the form of Keycloak's, and its jars.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { onTestFinished } from 'vitest'

const UI = 'theme/keycloak.v2/admin'
const VENDOR = 'theme/keycloak/common/resources/vendor'

/** The files of a made-up console, by path, in the jar `keycloak-admin-ui`. */
export const consoleFiles = (version = '26.7.3'): Record<string, string> => ({
  'META-INF/maven/org.keycloak/keycloak-admin-ui/pom.properties': `artifactId=keycloak-admin-ui\nversion=${version}\n`,
  [`${UI}/index.ftl`]: `<!doctype html>
<#import "theme-resources.ftl" as tags>
<title>\${properties.title!'Console'}</title>
<#if darkMode><meta name="dark"></#if><#if !isSecureContext><script src="shim.js"></script></#if>
<#list entryStyles as style><link href="\${resourceUrl}/\${style}"></#list>
<#if themeResources?? && themeResources.scripts?has_content><@tags.render themeResources.scripts /></#if>
<script src="\${resourceUrl}/\${entryScript}"></script>
<script id="environment">{"realm": "\${loginRealm!"master"}", "darkMode": \${darkMode?c}, "common": "\${resourceCommonUrl}",
"url": "\${serverBaseUrl}", "consoleBaseUrl": "\${consoleBaseUrl}", "clientId": "\${clientId}"}</script>
`,
  [`${UI}/theme.properties`]: 'parent=base\ndarkMode=true\n',
  [`${UI}/resources/.vite/manifest.json`]: JSON.stringify({
    'src/main.tsx': { file: 'assets/main-1.js', isEntry: true, css: ['assets/main-1.css'], imports: ['_shared.js'] },
    '_shared.js': { file: 'assets/shared-1.js' },
  }),
  [`${UI}/resources/assets/main-1.js`]: 'start()',
  [`${UI}/resources/assets/main-1.js.map`]: '{}',
  [`${UI}/resources/assets/main-1.css`]: 'body {}',
  [`${UI}/messages/messages_en.properties`]: 'cancel=Cancel\nsave=Save\nmore=More',
  [`${UI}/messages/messages_de.properties`]: 'cancel=Abbrechen\nsave=Speichern',
  [`${UI}/messages/messages_zh_Hans.properties`]: 'cancel=\u53d6\u6d88',
})

const vendorFiles: Record<string, string> = {
  [`${VENDOR}/react/react.production.min.js`]: 'react()',
  [`${VENDOR}/other/other.js`]: 'other()',
}

const baseFiles: Record<string, string> = {
  'theme/base/admin/theme.properties': 'locales=de,en',
  'theme/base/admin/messages/messages_en.properties': 'cancel=Never\ninvalidPasswordMessage=Invalid password.',
}

/** Writes files into a new folder, which is removed after the test. */
export async function createConsoleFolder(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'regent-console-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  return folder
}

/** Returns the unpacked files of the jars of a version. */
export const unpackedConsole = (version?: string) => ({ ...consoleFiles(version), ...vendorFiles, ...baseFiles })

/** Returns the jars of a version, as they are named in a distribution of Keycloak. */
export function consoleJars(version = '26.7.3'): Record<string, Uint8Array> {
  const jars = {
    'keycloak-admin-ui': consoleFiles(version),
    'keycloak-themes-vendor': vendorFiles,
    'keycloak-themes': baseFiles,
  }
  return Object.fromEntries(
    Object.entries(jars).map(([name, files]) => [
      `org.keycloak.${name}-${version}.jar`,
      zipSync(Object.fromEntries(Object.entries(files).map(([path, text]) => [path, strToU8(text)]))),
    ]),
  )
}
