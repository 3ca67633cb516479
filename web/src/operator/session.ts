import { createApi } from '../api.js'
import { isSandbox } from '../session.js'
import { createStore } from '../store.js'

interface OperatorSession {
  /** In memory; beside it in the tab's storage only if its user asked for that. Null: signed out. */
  readonly token: string | null
  /** Why the last session ended; null: there was none, or its user ended it. */
  readonly reason: string | null
}

const storageName = 'quittance.operator'

// Storage can be switched off.
const readRemembered = (): string | null => {
  try {
    return sessionStorage.getItem(storageName)
  } catch {
    return null
  }
}

const remember = (token: string | null): void => {
  try {
    if (token === null) sessionStorage.removeItem(storageName)
    else sessionStorage.setItem(storageName, token)
  } catch {
    // Then it is remembered until the page is left.
  }
}

export const operatorSession = createStore<OperatorSession>({ token: readRemembered(), reason: null })

/** Requests with the token of the operator, whatever key the account's session has. */
export const operatorApi = createApi({
  getKey: () => operatorSession.get().token,
  // 403: the instance has no token, or no longer.
  refusals: [401, 403],
  onKeyRefused: (token, message) => {
    if (operatorSession.get().token === token) endOperatorSession(message)
  },
  onAnswer: (answer) => isSandbox.set(answer.isSandbox),
})

/** Null, or why the token opens nothing. */
export const signInOperator = async (token: string, isRemembered: boolean): Promise<string | null> => {
  const result = await operatorApi.get('/v1/operator/overview', { key: token })
  if (!result.ok) return result.error.message
  remember(isRemembered ? token : null)
  operatorSession.set({ token, reason: null })
  return null
}

export const endOperatorSession = (reason: string | null): void => {
  remember(null)
  // The next one may be another operator.
  operatorName.set('')
  operatorSession.set({ token: null, reason })
}

/** Who does it, for the audit trail: operators share one token. Typed once, kept while the page is. */
export const operatorName = createStore('')

/** As requests have it: absent where no name was typed. */
export const readOperatorName = (): { readonly by?: string } => {
  const by = operatorName.get().trim()
  return by === '' ? {} : { by }
}
