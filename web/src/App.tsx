import { useEffect, useRef } from 'preact/hooks'
import { followEvents, type LiveState, liveState } from './live.js'
import { pages } from './pages/index.js'
import type { ConsolePage } from './pages/page.js'
import { SignIn } from './pages/signIn.js'
import { focusHeading, home, matchPath, type Place, place } from './router.js'
import { endSession, isSandbox, resumeSession, type Session, session } from './session.js'
import { useStore } from './store.js'
import { ErrorNote } from './ui/ErrorNote.js'
import { Logo } from './ui/Logo.js'
import { Empty, Page } from './ui/layout.js'

export const App = () => {
  const { key, account, reason, problem } = useStore(session)
  const isSignedIn = account !== null
  // Another key has other events.
  useEffect(() => (isSignedIn ? followEvents() : undefined), [isSignedIn, key])
  const shown = useRef(isSignedIn)
  // The element that had the focus is gone. At the first load the reader may be typing already.
  useEffect(() => {
    if (shown.current !== isSignedIn) focusHeading()
    shown.current = isSignedIn
  }, [isSignedIn])
  return (
    <div class="shell">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Header account={account} />
      <main id="content" tabIndex={-1}>
        {isSignedIn ? (
          <CurrentPage />
        ) : key === null ? (
          <OpenPage reason={reason} />
        ) : (
          <Checking problem={problem} />
        )}
      </main>
      <Footer />
    </div>
  )
}

const Checking = ({ problem }: Pick<Session, 'problem'>) =>
  problem === null ? (
    <p class="soft" role="status">
      Checking the key …
    </p>
  ) : (
    <>
      <ErrorNote error={problem} onRetry={() => void resumeSession()} />
      <button type="button" class="button" onClick={() => endSession(null)}>
        Sign out
      </button>
    </>
  )

const Header = ({ account }: Pick<Session, 'account'>) => {
  const current = useStore(place)
  return (
    <header class="top">
      <a class="brand" href={home}>
        <Logo />
        quittance
      </a>
      <nav aria-label="Console">
        {pages.map((page) =>
          page.label === null || (account === null && page.isOpen !== true) ? null : (
            <a
              key={page.path}
              href={page.path}
              {...(isCurrent(page, current) ? { 'aria-current': 'page' } : {})}
            >
              {page.label}
            </a>
          ),
        )}
      </nav>
      {account === null ? null : (
        <div class="account">
          <Live />
          <span class="project" title={account.email}>
            {account.project}
          </span>
          <button type="button" class="button quiet" onClick={() => endSession(null)}>
            Sign out
          </button>
        </div>
      )}
    </header>
  )
}

/** A page below one of the navigation belongs to it. */
const isCurrent = ({ path }: ConsolePage, current: Place): boolean =>
  current.path === path || (path !== home && current.path.startsWith(`${path}/`))

const words: Readonly<Record<LiveState, string>> = {
  connecting: 'Connecting …',
  live: 'Live',
  interrupted: 'Not live, reconnecting …',
}

const Live = () => {
  const state = useStore(liveState)
  return (
    <span class={`live ${state}`} role="status">
      <span class="dot" aria-hidden="true" />
      {words[state]}
    </span>
  )
}

/** Without a key: the pages that need none, and the sign-in on all others. */
const OpenPage = ({ reason }: Pick<Session, 'reason'>) => {
  const { path } = useStore(place)
  const isOpen = pages.some((page) => page.isOpen === true && matchPath(page.path, path) !== null)
  return isOpen ? <CurrentPage /> : <SignIn reason={reason} />
}

const CurrentPage = () => {
  const { path, query } = useStore(place)
  for (const page of pages) {
    const params = matchPath(page.path, path)
    if (params !== null) return page.render({ params, query })
  }
  return (
    <Page title="No such page">
      <Empty title={`The console has no page ${path}.`}>
        <p>
          <a href={home}>Go to the overview</a>
        </p>
      </Empty>
    </Page>
  )
}

const Footer = () => {
  const isTest = useStore(isSandbox)
  return (
    <footer>
      <span>{isTest ? 'Sandbox: no payment is real' : 'Payments are real'}</span>
      <span>
        <a href="/docs">API reference</a>
        <a href="/">This service</a>
        <a href="/console/operator">For operators</a>
        <a href="/console/assets/licenses.txt">Licenses</a>
      </span>
    </footer>
  )
}
