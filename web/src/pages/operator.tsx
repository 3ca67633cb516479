import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { createStore, useStore } from '../store.js'
import { Page } from '../ui/layout.js'
import type { ConsolePage, PageInput } from './page.js'

interface OperatorProps {
  readonly view: string
  readonly query: PageInput['query']
}

type View = (props: OperatorProps) => JSX.Element

/** Few need it, so that it is loaded apart. A function: stores compare values. */
const loaded = createStore<{ readonly View: View } | null>(null)

const Operator = (props: OperatorProps) => {
  const part = useStore(loaded)
  const [hasFailed, setFailed] = useState(false)
  const load = async () => {
    setFailed(false)
    try {
      const { OperatorPage } = await import('../operator/OperatorPage.js')
      loaded.set({ View: OperatorPage })
    } catch {
      setFailed(true)
    }
  }
  useEffect(() => {
    if (part === null) void load()
  }, [])
  if (part !== null) return <part.View {...props} />
  return (
    <Page title="Operator">
      {hasFailed ? (
        <div class="note bad" role="alert">
          <p>This part of the console could not be loaded. Reload the page.</p>
          <button type="button" class="button" onClick={() => location.reload()}>
            Reload the page
          </button>
        </div>
      ) : (
        <p class="soft" role="status">
          Loading …
        </p>
      )}
    </Page>
  )
}

/** They have a session of their own, beside that of a key. */
const operatorPage = (path: string): ConsolePage => ({
  path,
  label: null,
  isOpen: true,
  render: ({ params, query }) => <Operator view={params.view ?? ''} query={query} />,
})

export const operatorPages: readonly ConsolePage[] = [
  operatorPage('/console/operator'),
  operatorPage('/console/operator/:view'),
]
