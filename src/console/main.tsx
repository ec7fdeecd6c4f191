// The web console: logs in, then shows the page of the address.
import { render } from 'preact'
import { toMessage } from './api.ts'
import { App } from './app.tsx'
import { beginLogin, logIn } from './auth.ts'
import { follow } from './live.ts'
import { followAddress } from './location.ts'
import { texts } from './texts.ts'

const container = document.getElementById('console')!

function LoginFailure({ message }: { readonly message: string }) {
  return (
    <main class="alone">
      <h1>{texts.errors.loginFailed}</h1>
      <p role="alert">{message}</p>
      <button type="button" class="primary" onClick={() => void beginLogin()}>
        {texts.retry}
      </button>
    </main>
  )
}

try {
  if (await logIn()) {
    followAddress()
    render(<App />, container)
    void follow()
  }
} catch (error) {
  render(<LoginFailure message={toMessage(error)} />, container)
}
