// The page that gives an app its secret.
import qrcode from 'qrcode-generator'
import { type Html, html } from '../../lib/html.ts'
import type { OtpPolicy } from '../../service/users/one-time-codes.ts'
import { codeField } from './log-in.ts'
import { form, input, type Page, paragraph, submit } from './view.ts'

/** What the page shows. */
interface Setup {
  /** What the app reads, as an image; and typed. */
  readonly address: string
  readonly typed: string
  readonly policy: OtpPolicy
  /** Keys of the names of apps that can do it. */
  readonly applications: readonly string[]
  /** Whether the device must have a name, because there are others. */
  readonly labelNeeded: boolean
  readonly cancellable: boolean
}

/** An image to scan, the same to type, and the first code as proof. */
export const configureTotpPage =
  ({ address, typed, policy, applications, labelNeeded, cancellable }: Setup): Page =>
  (view) => {
    const { text } = view
    const { subType, algorithm, digits, period, counter } = policy
    const kind = text(`loginTotp.${subType}`)
    const pace = subType === 'totp' ? period : counter
    return {
      title: text('loginTotpTitle'),
      content: [
        html`<ol>
<li>${text('loginTotpStep1')}<ul>${applications.map((key) => html`<li>${text(key)}</li>`)}</ul></li>
<li>${text('loginTotpStep2')}
${image(address, text('loginTotpQrCode'))}
${paragraph(text('loginTotpUnableToScan'))}
<p class="code">${typed}</p>
<p class="help">${text('loginTotpManualDetails', kind, algorithm, digits, pace)}</p></li>
<li>${text('loginTotpStep3')}</li>
</ol>`,
        form(
          view,
          [
            codeField(view, 'totp', text('authenticatorCode')),
            input(view, {
              name: 'userLabel',
              label: text('loginTotpDeviceName'),
              required: labelNeeded,
              autocomplete: 'off',
              ...(labelNeeded && { help: text('loginTotpStep3DeviceName') }),
            }),
          ],
          [submit(text('doSubmit')), cancellable && submit(text('doCancel'), 'cancel-aia', 'plain')],
        ),
      ],
    }
  }

/** The text as an image that cameras read. */
function image(text: string, label: string): Html {
  const code = qrcode(0, 'M')
  code.addData(text, 'Byte')
  code.make()
  const size = code.getModuleCount()
  const dark = Array.from({ length: size * size }, (_, at) => [Math.floor(at / size), at % size] as const).filter(
    ([row, column]) => code.isDark(row, column),
  )
  const path = dark.map(([row, column]) => `M${column + 4} ${row + 4}h1v1h-1z`).join('')
  return html`<svg role="img" aria-label="${label}" viewBox="0 0 ${size + 8} ${size + 8}" shape-rendering="crispEdges"><path d="${path}"/></svg>`
}
