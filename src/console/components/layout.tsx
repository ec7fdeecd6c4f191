// The frame of all pages: navigation, account, state of the connection, announcements.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { RealmStateRepresentation } from '../api-types.ts'
import { beginLogin, isSessionOver, logOut, user } from '../auth.ts'
import { connection } from '../live.ts'
import { address, toPath } from '../location.ts'
import type { RemoteData } from '../resource.ts'
import { texts } from '../texts.ts'
import { Link } from './basics.tsx'
import { announcement, Dialog } from './dialog.tsx'
import { Icon, type IconName, Mark } from './icons.tsx'

/** Realms that the navigation lists. The overview has all. */
const MOST_REALMS = 12

/** The navigation and the page beside it. */
export function Layout({
  realms,
  children,
}: {
  readonly realms: RemoteData<readonly RealmStateRepresentation[]>
  readonly children: ComponentChildren
}) {
  const [isOpen, setOpen] = useState(false)
  const { segments } = address.value
  const path = segments.join('/')
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    setOpen(false)
    if (!isFirst.current) main.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [path])
  return (
    <div class="app">
      <a class="skip" href="#main">
        {texts.skip}
      </a>
      <header class="bar">
        <Link to={toPath([])} class="brand">
          <Mark />
          {texts.product}
        </Link>
        <Connection />
        <button type="button" class="menu" aria-expanded={isOpen} aria-controls="nav" onClick={() => setOpen(!isOpen)}>
          <Icon name={isOpen ? 'cross' : 'menu'} />
          {texts.menu}
        </button>
      </header>
      <div id="nav" class={isOpen ? 'side open' : 'side'}>
        <Navigation realms={realms.data ?? []} />
        <Account />
      </div>
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
      <div class="toast" role="status">
        {announcement.value && <p>{announcement.value}</p>}
      </div>
      {isSessionOver.value && <SessionOverDialog />}
    </div>
  )
}

function Connection() {
  const state = connection.value
  return (
    <span class={`connection ${state}`} role="status">
      <i aria-hidden="true" />
      {texts.connection[state]}
    </span>
  )
}

function Navigation({ realms }: { readonly realms: readonly RealmStateRepresentation[] }) {
  const { segments } = address.value
  const [section = '', name] = segments
  const pending = realms.reduce((sum, { pendingPlans = 0 }) => sum + pendingPlans, 0)
  const realm = section === 'realms' ? name : undefined
  return (
    <nav aria-label={texts.nav.main}>
      <ul>
        <Item icon="overview" to={toPath([])} isCurrent={section === ''} text={texts.nav.overview} />
        <Item
          icon="plans"
          to={toPath(['plans'])}
          isCurrent={section === 'plans'}
          text={texts.nav.plans}
          count={pending}
        />
        <Item icon="sources" to={toPath(['sources'])} isCurrent={section === 'sources'} text={texts.nav.sources} />
      </ul>
      {realms.length > 0 && <h2>{texts.nav.realms}</h2>}
      <ul>
        {listShownRealms(realms, realm).map((state) => (
          <li key={state.realm}>
            <Link to={toPath(['realms', state.realm])} class="item realm">
              <i class={`dot ${state.state ?? 'unmanaged'}`} aria-hidden="true" />
              <span>{state.realm}</span>
              {state.state !== undefined && state.state !== 'inSync' && state.state !== 'unmanaged' && (
                <span class="hidden">, {texts.states[state.state]}</span>
              )}
            </Link>
            {state.realm === realm && <RealmNavigation realm={state} />}
          </li>
        ))}
      </ul>
    </nav>
  )
}

function listShownRealms(
  realms: readonly RealmStateRepresentation[],
  current: string | undefined,
): RealmStateRepresentation[] {
  const listedRealms = realms.slice(0, MOST_REALMS)
  const chosen = realms.find(({ realm }) => realm === current)
  return chosen && !listedRealms.includes(chosen) ? [...listedRealms, chosen] : listedRealms
}

function RealmNavigation({ realm: { realm, permissions, drift = 0 } }: { readonly realm: RealmStateRepresentation }) {
  const section = address.value.segments[2] ?? 'objects'
  const can = (permission: string) => permissions.includes(permission)
  const item = (name: 'objects' | 'drift' | 'history' | 'users' | 'events', count = 0) => (
    <Item
      icon={name}
      to={toPath(name === 'objects' ? ['realms', realm] : ['realms', realm, name])}
      isCurrent={section === name}
      text={texts.nav[name]}
      count={count}
    />
  )
  return (
    <ul class="nested">
      {item('objects')}
      {can('accept-drift') && item('drift', drift)}
      {can('roll-back-realm') && item('history')}
      {can('view-users') && item('users')}
      {can('view-events') && item('events')}
    </ul>
  )
}

function Item({
  icon,
  to,
  isCurrent,
  text,
  count = 0,
}: {
  readonly icon: IconName
  readonly to: string
  readonly isCurrent: boolean
  readonly text: string
  readonly count?: number
}) {
  return (
    <li>
      <Link to={to} class="item" current={isCurrent}>
        <Icon name={icon} />
        <span>{text}</span>
        {count > 0 && <b class="count">{count}</b>}
      </Link>
    </li>
  )
}

function Account() {
  const account = user.value
  if (!account) return null
  return (
    <section class="account" aria-label={texts.nav.session}>
      <p title={texts.nav.account(account.name, account.realm)}>
        <b>{account.name}</b>
        <span class="quiet">{account.realm}</span>
      </p>
      {isSessionOver.value ? (
        <button type="button" class="small" onClick={() => void beginLogin()}>
          {texts.logInAgain}
        </button>
      ) : (
        <button type="button" class="small" onClick={logOut}>
          {texts.logOut}
        </button>
      )}
    </section>
  )
}

function SessionOverDialog() {
  return (
    <Dialog title={texts.errors.sessionOver} onClose={() => {}}>
      <p>{texts.errors.sessionOverHint}</p>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => void beginLogin()}>
          {texts.logInAgain}
        </button>
      </div>
    </Dialog>
  )
}

/** The title of a page, with its actions. */
export function PageHeader({
  title,
  crumbs = [],
  children,
}: {
  readonly title: string
  readonly crumbs?: readonly { readonly text: string; readonly to: string }[]
  readonly children?: ComponentChildren
}) {
  useEffect(() => {
    document.title = [title, ...crumbs.map(({ text }) => text).reverse(), texts.product].join(' · ')
  })
  return (
    <header class="page">
      <div>
        {crumbs.length > 0 && (
          <p class="crumbs">
            {crumbs.map(({ text, to }) => (
              <span key={to}>
                <Link to={to}>{text}</Link>
                <Icon name="chevron" />
              </span>
            ))}
          </p>
        )}
        <h1>{title}</h1>
      </div>
      <div class="actions">{children}</div>
    </header>
  )
}
