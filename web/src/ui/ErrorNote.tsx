import type { ApiError } from '../api.js'

/** What the service said, and what an operator needs to find it in the log. */
export const ErrorNote = ({
  error,
  onRetry,
}: {
  readonly error: ApiError
  readonly onRetry?: () => void
}) => (
  <div class="note bad" role="alert">
    <p>
      <strong>{error.message}</strong>
    </p>
    <p class="small">
      {error.code}
      {error.requestId === null ? null : (
        <>
          {' · request '}
          <code>{error.requestId}</code>
        </>
      )}
      {error.retryAfterSeconds === null ? null : ` · try again in ${error.retryAfterSeconds} s`}
    </p>
    <MissingScope {...error} />
    {onRetry === undefined ? null : (
      <button type="button" class="button" onClick={onRetry}>
        Try again
      </button>
    )}
  </div>
)

/** A key without a scope works, but not for this: the console says which one to use. */
const MissingScope = ({ status, message }: Pick<ApiError, 'status' | 'message'>) => {
  const scope = status === 403 ? /lacks the scope (\w+)$/.exec(message)?.[1] : undefined
  return scope === undefined ? null : (
    <p>
      Sign in with a key that has the scope <code>{scope}</code>; one with the scope <code>manage</code> can{' '}
      <a href="/console/keys">create it</a>.
    </p>
  )
}
