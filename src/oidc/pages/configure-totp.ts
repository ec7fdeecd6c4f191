// The page that sets up an authenticator app.
import qrcode from 'qrcode-generator'
import { type Html, html } from '../../lib/html.ts'
import type { OtpPolicy } from '../../service/users/one-time-codes.ts'
import { otpInput } from './log-in.ts'
import { form, input, type Page, paragraph, submit } from './view.ts'

/** The content of the page. */
interface OtpSetup {
  /** The `otpauth:` URI, which the page shows as a QR code. */
  readonly address: string
  /** The secret, formatted for typing. */
  readonly formattedSecret: string
  readonly policy: OtpPolicy
  /** Keys of the names of suitable apps. */
  readonly applications: readonly string[]
  /** The user has another app, so that this one needs a name. */
  readonly isLabelRequired: boolean
  readonly isCancellable: boolean
}

/** Shows a QR code, the secret to type instead, and asks for the first code of the app. */
export const configureTotpPage =
  ({ address, formattedSecret, policy, applications, isLabelRequired, isCancellable }: OtpSetup): Page =>
  (view) => {
    const { text } = view
    const { subType, algorithm, digits, period, counter } = policy
    const details = [text(`loginTotp.${subType}`, subType === 'totp' ? period : counter), algorithm, digits] as const
    return {
      title: text('loginTotpTitle'),
      content: [
        paragraph(text('loginTotpIntro')),
        html`<ol>
<li>${text('loginTotpStep1')}<ul>${applications.map((key) => html`<li>${text(key)}</li>`)}</ul></li>
<li>${text('loginTotpStep2')}
${renderQrCode(address, text('loginTotpQrCode'))}
${paragraph(text('loginTotpUnableToScan'))}
<p class="code">${formattedSecret}</p>
<p class="help">${text('loginTotpManualDetails', ...details)}</p></li>
<li>${text('loginTotpStep3')}</li>
</ol>`,
        form(
          view,
          [
            otpInput(view, 'totp', text('authenticatorCode')),
            input(view, {
              name: 'userLabel',
              label: text('loginTotpDeviceName'),
              required: isLabelRequired,
              autocomplete: 'off',
              ...(isLabelRequired && { help: text('loginTotpStep3DeviceName') }),
            }),
          ],
          [submit(text('doSubmit')), isCancellable && submit(text('doCancel'), 'cancel-aia', 'plain')],
        ),
      ],
    }
  }

/** Renders a text as a QR code. */
function renderQrCode(text: string, label: string): Html {
  const code = qrcode(0, 'M')
  code.addData(text, 'Byte')
  code.make()
  const size = code.getModuleCount()
  const modules = Array.from({ length: size * size }, (_, index) => [Math.floor(index / size), index % size] as const)
  const path = modules
    .filter(([row, column]) => code.isDark(row, column))
    .map(([row, column]) => `M${column + 4} ${row + 4}h1v1h-1z`)
    .join('')
  return html`<svg role="img" aria-label="${label}" viewBox="0 0 ${size + 8} ${size + 8}" shape-rendering="crispEdges"><path d="${path}"/></svg>`
}
