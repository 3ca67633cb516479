import { useId } from 'preact/hooks'
import { networks } from '../networks.js'
import { navigate, withQuery } from '../router.js'
import { useStore } from '../store.js'
import { useAddressText } from '../useAddressText.js'

interface PaymentFiltersProps {
  readonly status: string | undefined
  readonly network: string | undefined
  readonly search: string | undefined
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** They are in the address of the page, so that it can be kept and shared. */
export const PaymentFilters = ({ status, network, search }: PaymentFiltersProps) => {
  const known = useStore(networks)
  const [text, setText] = useAddressText(search ?? '')
  const id = useId()
  const find = (event: Event) => {
    event.preventDefault()
    const wanted = text.trim()
    if (uuid.test(wanted)) navigate(`/console/payments/${wanted.toLowerCase()}`)
    else navigate(withQuery({ q: wanted, cursor: null }))
  }
  const names =
    known.some((each) => each.network === network) || network === undefined
      ? known
      : [...known, { network, name: network }]
  return (
    <search aria-label="Payments">
      <form class="filters" onSubmit={find}>
        <div>
          <label for={`${id}-status`}>Status</label>
          <select
            id={`${id}-status`}
            value={status ?? ''}
            onInput={(event) => navigate(withQuery({ status: event.currentTarget.value, cursor: null }))}
          >
            <option value="">All</option>
            <option value="pending">Pending</option>
            <option value="confirmed">Confirmed</option>
            <option value="failed">Failed</option>
          </select>
        </div>
        <div>
          <label for={`${id}-network`}>Network</label>
          <select
            id={`${id}-network`}
            value={network ?? ''}
            onInput={(event) => navigate(withQuery({ network: event.currentTarget.value, cursor: null }))}
          >
            <option value="">All</option>
            {names.map((each) => (
              <option key={each.network} value={each.network}>
                {each.name}
              </option>
            ))}
          </select>
        </div>
        <div class="grow">
          <label for={`${id}-search`}>Transaction, payer or id</label>
          <input
            id={`${id}-search`}
            type="search"
            spellcheck={false}
            maxLength={256}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
        <button type="submit" class="button">
          Find
        </button>
      </form>
    </search>
  )
}
