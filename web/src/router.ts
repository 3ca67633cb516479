import { createStore } from './store.js'

export interface Place {
  readonly path: string
  readonly query: URLSearchParams
}

export const home = '/console'

const readPlace = (): Place => ({
  path: location.pathname.replace(/\/+$/, '') || '/',
  query: new URLSearchParams(location.search),
})

export const place = createStore<Place>(readPlace())

export const navigate = (href: string, { replace = false } = {}): void => {
  if (replace) history.replaceState(null, '', href)
  else history.pushState(null, '', href)
  const before = place.get().path
  place.set(readPlace())
  if (place.get().path === before) return
  scrollTo(0, 0)
  focusHeading(document.activeElement)
}

/**
 * A reader of the screen hears the new page; a keyboard goes on from its start. Only what led to the page, such as a link,
 * gives the focus up: the user chose every other element meanwhile, and may be typing into it.
 */
export const focusHeading = (origin: Element | null = null): void => {
  requestAnimationFrame(() => {
    const heading = document.querySelector<HTMLElement>('main h1')
    const { activeElement } = document
    // The body has the focus after the element that had it is gone.
    if (activeElement === origin || activeElement?.contains(heading)) heading?.focus({ preventScroll: true })
  })
}

/** The same page with other parameters; null removes one. */
export const withQuery = (changes: Readonly<Record<string, string | null>>): string => {
  const { path, query } = place.get()
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') next.delete(name)
    else next.set(name, value)
  }
  const search = next.toString()
  return search === '' ? path : `${path}?${search}`
}

/** Null: the path does not match. `/console/payments/:id` names its parts. */
export const matchPath = (pattern: string, path: string): Readonly<Record<string, string>> | null => {
  const [expected, given] = [pattern.split('/'), path.split('/')]
  if (expected.length !== given.length) return null
  const params: Record<string, string> = {}
  for (const [index, part] of expected.entries()) {
    const text = given[index] ?? ''
    if (!part.startsWith(':')) {
      if (part !== text) return null
    } else {
      const decoded = decode(text)
      if (decoded === null) return null
      params[part.slice(1)] = decoded
    }
  }
  return params
}

const decode = (text: string): string | null => {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** Links of the console change the page without loading it; all others, and new tabs, are the browser's. */
export const followLinks = (): void => {
  addEventListener('popstate', () => place.set(readPlace()))
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link === null || link.target !== '' || link.hasAttribute('download')) return
    const isOurs = link.origin === location.origin && /^\/console(\/|$)/.test(link.pathname)
    if (!isOurs || link.pathname.startsWith('/console/assets/')) return
    // Within the page, such as the link that skips the navigation.
    if (link.hash !== '') return
    event.preventDefault()
    navigate(link.pathname + link.search)
  })
}
