// Users at a glance: what support needs daily.
import { useState } from 'preact/hooks'
import { call } from '../api.ts'
import type {
  LockStateRepresentation,
  RealmStateRepresentation,
  UserRepresentation,
  UserSessionRepresentation,
} from '../api-types.ts'
import { Badge, Link, Time } from '../components/basics.tsx'
import { ActionButton, announce, ConfirmDialog } from '../components/dialog.tsx'
import { PageHeader } from '../components/layout.tsx'
import { SearchField } from '../components/search-field.tsx'
import { Empty, Loaded } from '../components/states.tsx'
import { address, navigate, toPath } from '../location.ts'
import { type RemoteData, usePages, useResource } from '../resource.ts'
import { texts } from '../texts.ts'

/** Returns the path of a realm in the admin API. */
const toAdminPath = (realm: string) => `admin/realms/${encodeURIComponent(realm)}`

const fullName = ({ firstName, lastName }: UserRepresentation) => [firstName, lastName].filter(Boolean).join(' ')

/** The page of all users, with a search. */
export function UsersPage({ realm: { realm } }: { readonly realm: RealmStateRepresentation }) {
  const search = address.value.query.get('search') ?? ''
  const users = usePages<UserRepresentation>(
    `${toAdminPath(realm)}/users?briefRepresentation=true&search=${encodeURIComponent(search)}`,
    realm,
  )
  const { columns } = texts.users
  return (
    <>
      <PageHeader title={texts.users.title} crumbs={[{ text: realm, to: toPath(['realms', realm]) }]} />
      <div class="toolbar">
        <SearchField
          label={texts.users.find}
          value={search}
          onSearch={(text) => navigate(toPath(['realms', realm, 'users'], { search: text }), { replaces: true })}
        />
      </div>
      <Loaded resource={users}>
        {(all) =>
          all.length === 0 ? (
            <Empty title={search ? texts.users.empty : texts.users.noUsers} />
          ) : (
            <>
              <table>
                <thead>
                  <tr>
                    <th scope="col">{columns.username}</th>
                    <th scope="col">{columns.name}</th>
                    <th scope="col">{columns.email}</th>
                    <th scope="col">{columns.state}</th>
                  </tr>
                </thead>
                <tbody>
                  {all.map((user) => (
                    <UserRow key={user.id} realm={realm} user={user} />
                  ))}
                </tbody>
              </table>
              {users.hasMore && (
                <button type="button" class="more" onClick={users.showMore}>
                  {texts.more}
                </button>
              )}
            </>
          )
        }
      </Loaded>
    </>
  )
}

type Question = 'logOut' | 'password' | 'disable'

/** The page of a user. */
export function UserPage({
  realm: { realm, permissions },
  id,
}: {
  readonly realm: RealmStateRepresentation
  readonly id: string
}) {
  const path = `${toAdminPath(realm)}/users/${encodeURIComponent(id)}`
  const account = useResource<UserRepresentation>(path, { topics: ['revisions'], realm })
  const sessions = useResource<readonly UserSessionRepresentation[]>(`${path}/sessions`)
  const [question, setQuestion] = useState<Question>()
  const mayManage = permissions.includes('manage-users')
  const crumbs = [
    { text: realm, to: toPath(['realms', realm]) },
    { text: texts.users.title, to: toPath(['realms', realm, 'users']) },
  ]
  const enable = async (enabled: boolean) => {
    await call(path, { method: 'PUT', body: { enabled } })
    announce(enabled ? texts.users.enabledNow : texts.users.disabledNow)
    account.reload()
  }
  const user = account.data
  return (
    <>
      <PageHeader title={user?.username ?? id} crumbs={crumbs}>
        {user && mayManage && <UserButtons user={user} enable={() => enable(true)} ask={setQuestion} />}
      </PageHeader>
      <Loaded resource={account}>
        {(loaded) => (
          <div class="split">
            <div class="stack">
              <AccountPanel user={loaded} realm={realm} mayManage={mayManage} />
              <Sessions
                sessions={sessions}
                realm={realm}
                mayManage={mayManage}
                onLogOut={() => setQuestion('logOut')}
              />
            </div>
            <RequiredActions user={loaded} path={path} realm={realm} mayManage={mayManage} onDone={account.reload} />
          </div>
        )}
      </Loaded>
      {user && question && (
        <UserDialog
          question={question}
          path={path}
          user={user}
          disable={() => enable(false)}
          onLogOut={sessions.reload}
          onClose={() => setQuestion(undefined)}
        />
      )}
    </>
  )
}

function AccountPanel({
  user,
  realm,
  mayManage,
}: {
  readonly user: UserRepresentation
  readonly realm: string
  readonly mayManage: boolean
}) {
  return (
    <section class="panel" aria-labelledby="account">
      <h2 id="account">{texts.users.account}</h2>
      <dl class="facts">
        <dt>{texts.users.columns.state}</dt>
        <dd>
          {user.enabled ? (
            <Badge tone="green">{texts.users.enabled}</Badge>
          ) : (
            <Badge tone="red">{texts.users.disabled}</Badge>
          )}{' '}
          <LockStateView realm={realm} id={user.id} mayManage={mayManage} />
        </dd>
        <dt>{texts.users.columns.name}</dt>
        <dd>{fullName(user) || texts.none}</dd>
        <dt>{texts.users.columns.email}</dt>
        <dd>
          {user.email ?? texts.none}{' '}
          {user.email !== undefined && (
            <span class="quiet">{user.emailVerified ? texts.users.verified : texts.users.notVerified}</span>
          )}
        </dd>
        {user.createdTimestamp !== undefined && (
          <>
            <dt>{texts.users.created}</dt>
            <dd>
              <Time at={user.createdTimestamp} />
            </dd>
          </>
        )}
      </dl>
    </section>
  )
}

function Sessions({
  sessions,
  realm,
  mayManage,
  onLogOut,
}: {
  readonly sessions: RemoteData<readonly UserSessionRepresentation[]>
  readonly realm: string
  readonly mayManage: boolean
  readonly onLogOut: () => void
}) {
  const end = async (id: string) => {
    await call(`${toAdminPath(realm)}/sessions/${encodeURIComponent(id)}`, { method: 'DELETE' })
    announce(texts.users.loggedOut)
    sessions.reload()
  }
  return (
    <section class="panel" aria-labelledby="sessions">
      <div class="toolbar">
        <h2 id="sessions">{texts.users.sessions}</h2>
        {mayManage && (sessions.data?.length ?? 0) > 0 && (
          <button type="button" class="small right" onClick={onLogOut}>
            {texts.users.logOutAll}
          </button>
        )}
      </div>
      <Loaded resource={sessions}>
        {(all) =>
          all.length === 0 ? (
            <p class="quiet">{texts.users.noSessions}</p>
          ) : (
            <ul class="plain-list">
              {all.map(({ id, ipAddress, start, lastAccess, clients = {} }) => (
                <li key={id} class="session">
                  <div>
                    <b>{Object.values(clients).join(', ') || texts.none}</b>
                    <p class="quiet">
                      {ipAddress} {start !== undefined && <>· {texts.users.started} </>}
                      {start !== undefined && <Time at={start} />}
                      {lastAccess !== undefined && <> · {texts.users.lastAccess} </>}
                      {lastAccess !== undefined && <Time at={lastAccess} />}
                    </p>
                  </div>
                  {mayManage && (
                    <ActionButton class="small" run={() => end(id)}>
                      {texts.users.endSession}
                    </ActionButton>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}

function RequiredActions({
  user,
  path,
  realm,
  mayManage,
  onDone,
}: {
  readonly user: UserRepresentation
  readonly path: string
  readonly realm: string
  readonly mayManage: boolean
  readonly onDone: () => void
}) {
  const available = useResource<readonly { alias: string; name?: string; enabled: boolean }[]>(
    `${toAdminPath(realm)}/authentication/required-actions`,
  )
  const [changed, setChanged] = useState<readonly string[]>()
  const chosen = changed ?? user.requiredActions ?? []
  const save = async () => {
    await call(path, { method: 'PUT', body: { requiredActions: chosen } })
    announce(texts.users.saved)
    setChanged(undefined)
    onDone()
  }
  return (
    <section class="panel" aria-labelledby="actions">
      <h2 id="actions">{texts.users.requiredActions}</h2>
      <p class="quiet">{texts.users.requiredActionsHint}</p>
      <Loaded resource={available}>
        {(all) => (
          <>
            {all
              .filter(({ alias, enabled }) => enabled || chosen.includes(alias))
              .map(({ alias, name }) => (
                <Tick
                  key={alias}
                  text={name ?? alias}
                  isChecked={chosen.includes(alias)}
                  isEnabled={mayManage}
                  change={(isChecked) =>
                    setChanged(isChecked ? [...chosen, alias] : chosen.filter((action) => action !== alias))
                  }
                />
              ))}
            {mayManage && changed && (
              <ActionButton class="primary" run={save}>
                {texts.users.save}
              </ActionButton>
            )}
          </>
        )}
      </Loaded>
    </section>
  )
}

function PasswordDialog({
  path,
  name,
  onClose,
}: {
  readonly path: string
  readonly name: string
  readonly onClose: () => void
}) {
  const [password, setPassword] = useState('')
  const [isTemporary, setTemporary] = useState(true)
  const run = async () => {
    await call(`${path}/reset-password`, {
      method: 'PUT',
      body: { type: 'password', value: password, temporary: isTemporary },
    })
    announce(texts.users.passwordSet)
  }
  return (
    <ConfirmDialog
      title={texts.users.resetQuestion(name)}
      confirm={texts.users.resetPassword}
      run={run}
      onClose={onClose}
    >
      <label class="field">
        <span>{texts.users.password}</span>
        <input
          type="password"
          autocomplete="new-password"
          required
          value={password}
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
      </label>
      <label class="tick">
        <input type="checkbox" checked={isTemporary} onChange={(event) => setTemporary(event.currentTarget.checked)} />
        {texts.users.temporary}
      </label>
    </ConfirmDialog>
  )
}

function UserDialog({
  question,
  path,
  user: { username },
  disable,
  onLogOut,
  onClose,
}: {
  readonly question: Question
  readonly path: string
  readonly user: UserRepresentation
  readonly disable: () => Promise<void>
  readonly onLogOut: () => void
  readonly onClose: () => void
}) {
  if (question === 'password') return <PasswordDialog path={path} name={username} onClose={onClose} />
  if (question === 'disable')
    return (
      <ConfirmDialog
        title={texts.users.disableQuestion(username)}
        confirm={texts.users.disable}
        isDangerous
        run={disable}
        onClose={onClose}
      >
        <p>{texts.users.disableHint}</p>
      </ConfirmDialog>
    )
  return (
    <ConfirmDialog
      title={texts.users.logOutQuestion(username)}
      confirm={texts.users.logOutAll}
      isDangerous
      run={async () => {
        await call(`${path}/logout`, { method: 'POST' })
        announce(texts.users.loggedOut)
        onLogOut()
      }}
      onClose={onClose}
    >
      <p>{texts.users.logOutHint}</p>
    </ConfirmDialog>
  )
}

function UserRow({ realm, user }: { readonly realm: string; readonly user: UserRepresentation }) {
  const { columns } = texts.users
  return (
    <tr>
      <th scope="row" data-label={columns.username}>
        <Link to={toPath(['realms', realm, 'users', user.id])} class="name">
          {user.username}
        </Link>
      </th>
      <td data-label={columns.name}>{fullName(user)}</td>
      <td data-label={columns.email}>{user.email}</td>
      <td data-label={columns.state}>
        {user.enabled ? texts.users.enabled : <Badge tone="red">{texts.users.disabled}</Badge>}
      </td>
    </tr>
  )
}

function LockStateView({
  realm,
  id,
  mayManage,
}: {
  readonly realm: string
  readonly id: string
  readonly mayManage: boolean
}) {
  const lockPath = `${toAdminPath(realm)}/attack-detection/brute-force/users/${encodeURIComponent(id)}`
  const lock = useResource<LockStateRepresentation>(lockPath)
  const unlock = async () => {
    await call(lockPath, { method: 'DELETE' })
    announce(texts.users.unlocked)
    lock.reload()
  }
  return (
    <>
      {lock.data?.disabled && <Badge tone="red">{texts.users.locked}</Badge>}{' '}
      {lock.data && lock.data.numFailures > 0 && (
        <span class="quiet">
          {texts.users.lockedHint(lock.data.numFailures)}{' '}
          {lock.data.lastFailure ? <Time at={lock.data.lastFailure} /> : null}
        </span>
      )}{' '}
      {mayManage && lock.data && (lock.data.disabled || lock.data.numFailures > 0) && (
        <ActionButton class="small" run={unlock}>
          {texts.users.unlock}
        </ActionButton>
      )}
    </>
  )
}

function UserButtons({
  user: { enabled },
  enable,
  ask,
}: {
  readonly user: UserRepresentation
  readonly enable: () => Promise<void>
  readonly ask: (question: Question) => void
}) {
  return (
    <>
      {enabled ? (
        <button type="button" onClick={() => ask('disable')}>
          {texts.users.disable}
        </button>
      ) : (
        <ActionButton run={enable}>{texts.users.enable}</ActionButton>
      )}
      <button type="button" onClick={() => ask('password')}>
        {texts.users.resetPassword}
      </button>
    </>
  )
}

function Tick({
  text,
  isChecked,
  isEnabled,
  change,
}: {
  readonly text: string
  readonly isChecked: boolean
  readonly isEnabled: boolean
  readonly change: (isChecked: boolean) => void
}) {
  return (
    <label class="tick">
      <input
        type="checkbox"
        disabled={!isEnabled}
        checked={isChecked}
        onChange={(event) => change(event.currentTarget.checked)}
      />
      {text}
    </label>
  )
}
