/** Places among the public symbols at which no value of an application enters unread, and why. Names stand in groups of one reason. */
const GROUPS: readonly (readonly [why: string, places: string])[] = [
  [
    'it names types',
    `ArgOf ArgSpecs ArgTypes.any ArgTypes.entityid ArgTypes.list ArgTypes.map ArgTypes.map_any_any ArgTypes.map_string_any ArgTypes.slice
    ArgTypes.slice_any ArgTypes.slice_map FromJsonSchema FromType GivenJson HasDefault.default JsonObject[] JsonValue Ordered OrderedMap
    OrderedValue ResultOf ResultTypes.any ResultTypes.list ResultTypes.map ResultTypes.map_any_any ResultTypes.map_string_any
    ResultTypes.slice ResultTypes.slice_any ResultTypes.slice_map TaggedJson TaggedJson[] TypeOfName.object Value ValueMap[]`,
  ],
  [
    'the runtime gives it to the application, after it was read',
    `AgentModel.params AgentModel.safety_settings Attendance.onError(error) AuditRecord.args CatalogueArgument.default Control.json ControlPayload
    ControlPayload.request ControlPayload.telemetry DecodedToken.payload ErrorValue.entries() ErrorValue.fields Execution.error
    GateOutcome.error Handles.get() HostContext.emit() HostContext.emit(value) HostContext.onEventError() HostContext.whisper()
    HostContextInit.emit(value) HostOptions.onError(error) JournalEntry.args JournalEntry.options JournalEntry.prompt JournalOutcome.value
    Logger.debug(fields) Logger.error(fields) Logger.info(fields) Logger.warn(fields) Minted.fallback.cause NeuroscriptOutput.values
    OutFrame.values PageCall.args PageCall.result PageResult.result PageResult.values PageTool(args) Parameter.default RequestLine.call.args
    RequestLine.globals RunFacts.result RunFacts.values ScriptRun.values() TokenPayload ToolBench.call() ToolDefinition.complete(answer)
    ToolDefinition.complete(args) ToolDefinition.run(args) ToolInit.complete(answer) ToolRuntime.callTool() ToolRuntime.getVar()
    TurnContext.value() Userdata Userdata.fields Versioned.value Waiting.args WaitingCall.args WaitingCall.plan callTool() decodeTagged() encode()
    parseStrict()`,
  ],
  [
    'it stands between parts of the runtime, behind their readers',
    `AskRequest.globals AskRequest.options AskRequest.prompt AskingRun.globals BranchEnd.value CallHistory.ended() CallIo.defineConst(value)
    CallIo.getVar().value CallIo.setVar(value) Completion.value Definitions.constants() Definitions.setConstant(value) GuestCall.args
    GuestCall.options GuestCall.prompt GuestFrame.value GuestReply.value GuestResult.result Job.fail(error) Plan
    RootDefinitions.setConstant(value) RunContext.globals RunInput.call.args RunInput.constants RunInput.globals SpanInit.caller
    SpanInit.errorType(error) StartedWorker.frames.unref() StoredStep.body TurnExecutor.misfit(value) WorkerChild.on()
    WorkerChild.on(listener)(error)`,
  ],
  [
    'code of the application gets back the same object, which the runtime never looks into',
    'Handles.create(object) TurnInit.values',
  ],
  ['another place hands it on: LoopController.open(userdata)', 'LoopOptions.userdata SimulatedSession.userdata'],
  ['only their number is read', 'explainEnd(result).turns'],
  ['another place hands it on: ToolInit.complete()', 'ToolDefinition.complete()'],
  [
    'an expectation of a test, which is compared and not kept',
    'ExpectedCall.args ExpectedCall.returns ScriptRun.expectResult(value) ScriptRun.expectValues(values)',
  ],
  ['the application of the gate prepares it for its own executor, which reads the steps itself', 'PlanStep.value'],
  [
    'what a driver of a database gives and takes; the readers of rows check each row',
    `PgConnection.off() PgConnection.on() PgConnection.query(values) PgPool.connect() PgPool.connect(callback)(error) PgPool.query(values)
    Pglite.exec() Pglite.query().rows Pglite.query(values) PostgresJs.begin() PostgresJs.begin(work)() PostgresJs.unsafe()
    PostgresQuery(values) PostgresRow`,
  ],
  ['a stream of the AI SDK, which is read as a stream of a server is: test/loop/agents/model.test.ts', 'SdkModel.doStream()'],
];

/** What a callback returns counts for nothing. What it throws or rejects with goes through `src/wire/callback.ts`, or is awaited. */
export const CALLBACKS: readonly string[] = [
  'AskHandlerOptions.onEvent()',
  'AskLoopRun.onEvent()',
  'Attendance.onError()',
  'ExecutionOptions.onProfile()',
  'HostContextInit.emit()',
  'HostContextInit.onEventError()',
  'HostContextInit.whisper()',
  'HostOptions.onError()',
  'HostOptions.onLeft()',
  'LoopListener()',
  'RunRequest.onInput()',
  'RunSettings.onCall()',
  'RunSettings.onOut()',
  'RuntimeContext.audit()',
  'RuntimeSettings.audit()',
  'SessionStorageOptions.audit()',
  'Settings.audit()',
  'SimulationOptions.onSchedule()',
  'TextSink.write()',
  'V1TurnRequest.onSection()',
];

/** The reason of each place that is no entrance. */
export const NO_ENTRANCE: ReadonlyMap<string, string> = new Map(
  GROUPS.flatMap(([why, places]) => places.split(/\s+/).map((place) => [place, why] as const)),
);
