import { useId, useState } from 'preact/hooks'
import { type Account, api, refreshAccount } from '../session.js'
import { Confirm } from '../ui/Confirm.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Card } from '../ui/layout.js'
import { useAction } from '../useAction.js'

interface RestrictionsProps {
  readonly account: Account
  readonly onChanged: () => void
}

/** What would refuse the next request of this page. */
type LockOut =
  | { readonly by: 'host'; readonly host: string }
  /** As the service sees it. */
  | { readonly by: 'address'; readonly address: string }

const readLines = (text: string): readonly string[] =>
  text
    .split(/[\s,]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** The service reads the host of this page in the header `Referer`; subdomains are included. */
const isHostAllowed = (hosts: readonly string[], host: string): boolean =>
  hosts.some((each) => {
    const allowed = each.toLowerCase().replace(/\.$/, '')
    return host === allowed || host.endsWith(`.${allowed}`)
  })

/** Null: the service refused something else. */
const findAddress = (message: string): string | null =>
  /^allowedIPs: does not contain (\S+),/.exec(message)?.[1] ?? null

/** The service keeps a caller from excluding its own address; what excludes this page is found here. */
export const Restrictions = ({ account, onChanged }: RestrictionsProps) => {
  const [addresses, setAddresses] = useState((account.allowedIPs ?? []).join('\n'))
  const [hosts, setHosts] = useState((account.allowedRef ?? []).join('\n'))
  const [lockOut, setLockOut] = useState<LockOut | null>(null)
  const save = useAction()
  const id = useId()
  const allowedIPs = readLines(addresses)
  const allowedRef = readLines(hosts)
  const host = location.hostname
  const send = async (ips: readonly string[], force: boolean) => {
    const body = { allowedIPs: [...ips], allowedRef: [...allowedRef], ...(force ? { force } : {}) }
    const saved = await save.run(async () => {
      const result = await api.post('/dashboard/restrictions', { body })
      const address = result.ok ? null : findAddress(result.error.message)
      setLockOut(address === null ? null : { by: 'address', address })
      return result
    })
    if (saved === null) return
    // What was typed since the request stays.
    setAddresses((text) => (text === addresses ? saved.allowedIPs.join('\n') : text))
    setHosts((text) => (text === hosts ? saved.allowedRef.join('\n') : text))
    onChanged()
    await refreshAccount()
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (allowedRef.length > 0 && !isHostAllowed(allowedRef, host)) setLockOut({ by: 'host', host })
    else void send(allowedIPs, false)
  }
  const close = () => {
    setLockOut(null)
    save.clear()
  }
  return (
    <Card title="Restrictions">
      <form onSubmit={submit}>
        <label for={`${id}-ips`}>Addresses</label>
        <textarea
          id={`${id}-ips`}
          rows={3}
          spellcheck={false}
          placeholder={'203.0.113.7\n2001:db8::/48'}
          aria-describedby={`${id}-ips-help`}
          value={addresses}
          onInput={(event) => setAddresses(event.currentTarget.value)}
        />
        <p id={`${id}-ips-help`} class="small soft help">
          Addresses and CIDR blocks, one a line. Empty: from everywhere. A stolen key is worth nothing
          elsewhere.
        </p>
        <label for={`${id}-refs`}>Hosts of web pages</label>
        <textarea
          id={`${id}-refs`}
          rows={2}
          spellcheck={false}
          placeholder="shop.example"
          aria-describedby={`${id}-refs-help`}
          value={hosts}
          onInput={(event) => setHosts(event.currentTarget.value)}
        />
        <p id={`${id}-refs-help`} class="small soft help">
          One a line, with their subdomains. Empty: all. Programs can name any host: this is no protection
          against theft. This console is at <code>{host}</code>.
        </p>
        {save.error === null || lockOut !== null ? null : <ErrorNote error={save.error} />}
        <button type="submit" class="button" disabled={save.isBusy}>
          {save.isBusy ? 'Saving …' : 'Save for all keys'}
        </button>
      </form>
      {lockOut === null ? null : (
        <Confirm
          key={lockOut.by}
          title="You would lock yourself out"
          action="Lock this console out"
          word="lock out"
          isBusy={save.isBusy}
          error={null}
          onConfirm={() => void send(allowedIPs, lockOut.by === 'address')}
          onClose={close}
        >
          <p>
            {lockOut.by === 'host' ? (
              <>
                The hosts do not include <code>{lockOut.host}</code>, where this console is: no key opens it
                there any more.
              </>
            ) : (
              <>
                The addresses do not include <code>{lockOut.address}</code>, which is yours as the service
                sees it: every further request from it is refused.
              </>
            )}{' '}
            Then only a request from an allowed place, or the operator, can change it.
          </p>
          {lockOut.by === 'address' ? (
            <button
              type="button"
              class="button primary"
              disabled={save.isBusy}
              onClick={() => void send([...allowedIPs, lockOut.address], false)}
            >
              Allow {lockOut.address} too
            </button>
          ) : null}
        </Confirm>
      )}
    </Card>
  )
}
