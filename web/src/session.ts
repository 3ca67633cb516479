import { type Answer, createApi, type Schemas } from './api.js'
import { createStore } from './store.js'

export type Account = Answer<'/dashboard/info'>
export type Settlement = Schemas['Settlement']
export type Activity = NonNullable<Answer<'/dashboard/usage'>['settlements']>

export interface Session {
  /** In memory; beside it in the tab's storage only if its user asked for that. */
  readonly key: string | null
  /** Null while the key is checked, and without one. */
  readonly account: Account | null
  /** Why the last session ended; null: nobody was signed in, or its user signed out. */
  readonly reason: string | null
}

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

export const session = createStore<Session>({ key: readRemembered(), account: null, reason: null })
export const isSandbox = createStore(false)

export const api = createApi({
  getKey: () => session.get().key,
  onKeyRefused: (key, message) => {
    // An answer to a key that was replaced meanwhile says nothing about the new one.
    if (session.get().key === key) endSession(message)
  },
  onAnswer: (answer) => isSandbox.set(answer.isSandbox),
})

const loadAccount = () => api.get('/dashboard/info')

/** Null, or why the key does not open the console. */
export const signIn = async (key: string, isRemembered: boolean): Promise<string | null> => {
  session.set({ key, account: null, reason: null })
  const result = await loadAccount()
  if (result.ok) {
    remember(isRemembered ? key : null)
    session.set({ key, account: result.data, reason: null })
    return null
  }
  session.set({ key: null, account: null, reason: null })
  return result.error.message
}

/** Of a tab that was loaded again. A service that does not answer now does not end the session. */
export const resumeSession = async (): Promise<void> => {
  const { key } = session.get()
  if (key === null) return
  const result = await loadAccount()
  if (session.get().key !== key) return
  if (result.ok) session.set({ key, account: result.data, reason: null })
  else endSession(result.error.message)
}

export const refreshAccount = async (): Promise<void> => {
  const { key } = session.get()
  const result = await loadAccount()
  if (result.ok && session.get().key === key) session.set({ key, account: result.data, reason: null })
}

export const endSession = (reason: string | null): void => {
  remember(null)
  session.set({ key: null, account: null, reason })
}
