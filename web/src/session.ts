import { type Answer, type ApiError, createApi, type Result, type Schemas } from './api.js'
import { createStore } from './store.js'

export type Account = Answer<'/dashboard/info'>
export type Settlement = Schemas['Settlement']
export type Activity = NonNullable<Answer<'/dashboard/usage'>['settlements']>

export interface Session {
  /** In memory; beside it in the tab's storage only if its user asked for that. */
  readonly key: string | null
  /** Null while the key is checked, and without one. */
  readonly account: Account | null
  /** Why the last session ended; null: there was none, or its user signed out. */
  readonly reason: string | null
  /** Why a remembered key could not be checked yet. */
  readonly problem: ApiError | null
}

const signedOut: Session = { key: null, account: null, reason: null, problem: null }

const storageName = 'quittance.key'

// Storage can be switched off.
const readRemembered = (): string | null => {
  try {
    return sessionStorage.getItem(storageName)
  } catch {
    return null
  }
}

const remember = (key: string | null): void => {
  try {
    if (key === null) sessionStorage.removeItem(storageName)
    else sessionStorage.setItem(storageName, key)
  } catch {
    // Then it is remembered until the page is left.
  }
}

export const session = createStore<Session>({ ...signedOut, key: readRemembered() })
export const isSandbox = createStore(false)

/** True while the session's own key is being replaced or revoked. */
let isChangingKey = false

export const api = createApi({
  getKey: () => session.get().key,
  refusals: [401],
  onKeyRefused: (key, message) => {
    // An answer to a key that was replaced meanwhile says nothing about the new one.
    if (session.get().key === key && !isChangingKey) endSession(message)
  },
  onAnswer: (answer) => isSandbox.set(answer.isSandbox),
})

/**
 * Until the answer arrives, a request with the old key, such as that of the feed, may be refused: that must not end the
 * session, because the page shows the new key once, and says why the session ends.
 */
const changeOwnKey = async <Data>(
  request: () => Promise<Result<Data>>,
  onChanged: (data: Data) => void,
): Promise<Result<Data>> => {
  const { key } = session.get()
  isChangingKey = true
  try {
    const result = await request()
    if (session.get().key !== key) return result
    if (result.ok) onChanged(result.data)
    else if (result.error.status === 401) endSession(result.error.message)
    return result
  } finally {
    isChangingKey = false
  }
}

/** The session goes on with the new key. */
export const rotateKey = (graceSeconds: number): Promise<Result<{ readonly apiKey: string }>> =>
  changeOwnKey(
    () => api.post('/dashboard/rotate', { query: { graceSeconds } }),
    ({ apiKey }) => {
      if (readRemembered() !== null) remember(apiKey)
      session.set({ ...session.get(), key: apiKey })
    },
  )

/** The key revokes itself, and the session ends. */
export const revokeOwnKey = (id: string) =>
  changeOwnKey(
    () => api.delete('/dashboard/api-keys/{id}', { params: { id } }),
    () => endSession('You revoked the key of this session'),
  )

/** Null, or why the key does not open the console. */
export const signIn = async (key: string, isRemembered: boolean): Promise<string | null> => {
  const result = await api.get('/dashboard/info', { key })
  if (!result.ok) return result.error.message
  remember(isRemembered ? key : null)
  session.set({ ...signedOut, key, account: result.data })
  return null
}

/** Checks the key that the tab remembers. A service that does not answer now does not end the session. */
export const resumeSession = async (): Promise<void> => {
  const { key } = session.get()
  if (key === null) return
  session.set({ ...signedOut, key })
  const result = await api.get('/dashboard/info')
  if (session.get().key !== key) return
  if (result.ok) session.set({ ...signedOut, key, account: result.data })
  // Restricted since then.
  else if (result.error.status === 403) endSession(result.error.message)
  else session.set({ ...signedOut, key, problem: result.error })
}

export const refreshAccount = async (): Promise<void> => {
  const { key } = session.get()
  const result = await api.get('/dashboard/info')
  if (result.ok && session.get().key === key) session.set({ ...signedOut, key, account: result.data })
}

export const endSession = (reason: string | null): void => {
  remember(null)
  session.set({ ...signedOut, reason })
}
