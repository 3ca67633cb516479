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

/** While the new key of a rotation is on its way. */
let isReplacing = false

export const api = createApi({
  getKey: () => session.get().key,
  refusals: [401],
  onKeyRefused: (key, message) => {
    // An answer to a key that was replaced meanwhile says nothing about the new one.
    if (session.get().key === key && !isReplacing) endSession(message)
  },
  onAnswer: (answer) => isSandbox.set(answer.isSandbox),
})

/**
 * The session goes on with the new key. Until it arrives, a request with the old one, such as that of the feed, may be
 * refused: that must not end the session, because the page shows the new key once.
 */
export const rotateKey = async (graceSeconds: number): Promise<Result<{ readonly apiKey: string }>> => {
  isReplacing = true
  try {
    const result = await api.post('/dashboard/rotate', { query: { graceSeconds } })
    if (result.ok && session.get().account !== null) {
      if (readRemembered() !== null) remember(result.data.apiKey)
      session.set({ ...session.get(), key: result.data.apiKey })
    }
    return result
  } finally {
    isReplacing = false
  }
}

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
