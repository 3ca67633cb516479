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
    {onRetry === undefined ? null : (
      <button type="button" class="button" onClick={onRetry}>
        Try again
      </button>
    )}
  </div>
)
