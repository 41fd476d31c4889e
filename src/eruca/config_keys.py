# SPDX-License-Identifier: Apache-2.0
"""The Java keys that Eruca knows and has no use for, so that a user's own file starts it unchanged.

As of RocketMQ 5.5.0, with the values its objects have when nobody sets them; most of them size
thread pools, caches and engines that are not here. They are accepted, and shown to tools that ask
for the whole configuration. An option that Eruca comes to use moves from here to config.py.
"""

from typing import Final


def _table(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split())  # No value here has a space.


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BROKER: Final = _table("""
    accessMessageInMemoryHotRatio=26 accountStatsEnable=true accountStatsPrintZeroValues=true
    ackMessageThreadPoolNums=16 ackThreadPoolQueueCapacity=100000 aclCacheExpiredSecond=600
    aclCacheMaxNum=1000 aclCacheRefreshSecond=60 aclEnable=false adminBrokerThreadPoolNums=16
    adminBrokerThreadPoolQueueCapacity=10000 allAckInSyncStateSet=false
    allowRecallWhenBrokerNotWriteable=true appendAckAsync=false appendCkAsync=false
    appendTopicForTimerDeleteKey=false asyncLearner=false asyncSendEnable=true
    authenticationEnabled=false authorizationEnabled=false autoDeleteUnusedStats=true
    autoMessageVersionOnTopicLen=true batchDispatchRequestThreadPoolNums=16
    bitMapLengthConsumeQueueExt=64 bottomMostCompressionTypeForConsumeQueueStore=zstd
    broadcastOffsetExpireMaxSecond=300 broadcastOffsetExpireSecond=120
    brokerElectionPriority=2147483647 brokerFastFailureEnable=true brokerHeartbeatInterval=1000
    brokerNotActiveTimeoutMillis=10000 cgColdReadThreshold=3145728 channelNotActiveInterval=60000
    checkCommitLogOffsetOnRecover=false checkSyncStateSetPeriod=5000
    cleanOfflineBrokerInterval=30000 cleanRocksDBDirtyCQIntervalMin=60
    cleanSwapedMapInterval=300000 clientAsyncSemaphoreValue=65535 clientCallbackExecutorThreads=2
    clientChannelMaxIdleTimeSeconds=120 clientCloseSocketIfTimeout=true
    clientManageThreadPoolNums=32 clientManagerThreadPoolQueueCapacity=1000000
    clientOnewaySemaphoreValue=65535 clientPooledByteBufAllocatorEnable=false
    clientSocketRcvBufSize=0 clientSocketSndBufSize=0 clientWorkerThreads=4
    coldCtrStrategyEnable=false coldDataFlowControlEnable=false coldDataScanEnable=false
    combineAssignOffsetCQType=default combineCQEnableCheckSelf=false
    combineCQLoadingCQTypes=default;defaultRocksDB combineCQMaxExtraSearchCommitLogFiles=3
    combineCQPreferCQType=default combineCQUseRocksdbForLmq=false commercialBaseCount=1
    commercialSizePerMsg=4096 commitCommitLogLeastPages=4 commitCommitLogThoroughInterval=200
    commitIntervalCommitLog=200 commitLogForceSwapMapInterval=43200000 commitLogRecoverMaxNum=10
    commitLogSwapMapInterval=3600000 commitLogSwapMapReserveFileNum=100
    compactionCqMappedFileSize=10485760 compactionMappedFileSize=104857600
    compactionScheduleInternal=900000 compactionThreadNum=6 compatibleWithOldNameSrv=true
    compressedRegister=false configBlackList=configBlackList;brokerConfigPath
    configManagerVersion=v1 connectTimeoutMillis=3000 consumerFallbehindThreshold=17179869184
    consumerManageThreadPoolNums=32 consumerManagerThreadPoolQueueCapacity=1000000
    controllerAddr= controllerHeartBeatTimeoutMills=10000
    correctLogicMinOffsetForceInterval=300000 correctLogicMinOffsetSleepInterval=1
    dataReadAheadEnable=true debugLockEnable=false delayOffsetUpdateVersionStep=200
    deleteCommitLogFilesInterval=100 deleteConsumeQueueFilesInterval=100
    destroyMapedFileIntervalForcibly=120000 disableCallbackExecutor=false
    disableConsumeIfConsumerReadSlowly=false disableNettyWorkerGroup=false
    disappearTimeAfterStart=-1 diskFallRecorded=true dispatchCqCacheNum=4096 dispatchCqThreads=10
    dispatchFromSenderThread=false duplicationEnable=false enableAcceleratedRecovery=false
    enableAsyncReput=true enableAutoInSyncReplicas=false enableBatchPush=false
    enableBroadcastOffsetStore=true enableBuildConsumeQueueConcurrently=false
    enableCalcFilterBitMap=false enableCleanExpiredOffset=false enableCompaction=true
    enableConnectionMetrics=true enableConsumeQueueExt=false enableControllerMode=false
    enableDLegerCommitLog=false enableDetailStat=true enableFastChannelEventProcess=false
    enableLagAndDlqMetrics=true enableLiteEventMode=true enableLitePopLog=false
    enableLmqQuota=false enableLmqStats=false
    enableLogConsumeQueueRepeatedlyBuildWhenRecover=false enableMessageStoreMetrics=true
    enableMultiDispatch=false enableNetWorkFlowControl=false
    enableNotifyAfterPopOrderLockRelease=true enableNotifyBeforePopCalculateLag=true
    enablePopBatchAck=false enablePopBufferMerge=false enablePopLog=false
    enablePopMessageThreshold=false enablePopMetrics=true enableReconnectForGoAway=true
    enableRegisterProducer=true enableRemoteEscape=false enableRemotingMetrics=true
    enableRequestMetrics=true enableRetryTopicV2=false enableRocksDBLog=false
    enableRunningFlagsInFlush=false enableScheduleAsyncDeliver=false
    enableScheduleMessageStats=true enableShutdownGracefully=false
    enableSingleTopicRegister=false enableSkipLongAwaitingAck=false enableSlaveActingMaster=false
    enableSplitMetadata=true enableSplitRegistration=false enableStatsMetrics=true
    enableTransactionMetrics=true enabledAppendPropCRC=false
    endTransactionPoolQueueCapacity=100000 endTransactionThreadPoolNums=1
    estimateAccumulation=true expectConsumerNumUseFilter=32 fastFailIfNoBufferInStorePool=false
    fetchControllerAddrByDnsLookup=false fetchNameSrvAddrByDnsLookup=false
    fetchNamesrvAddrByAddressServer=false fetchNamesrvAddrInterval=10000
    filterDataCleanTimeSpan=86400000 flushCommitLogTimed=true flushConsumeQueueLeastPages=2
    flushConsumeQueueThoroughInterval=60000 flushConsumerOffsetHistoryInterval=60000
    flushLeastPagesWhenWarmMapedFile=4096 forceRegister=true forceVerifyPropCRC=false
    forwardTimeout=3000 globalColdReadThreshold=104857600 haFlowControlEnable=false
    haHousekeepingInterval=20000 haMaxGapNotInSync=268435456 haMaxTimeSlaveNotCatchup=15000
    haSendHeartbeatInterval=5000 haTransferBatchSize=32768 heartbeatThreadPoolNums=1
    heartbeatThreadPoolQueueCapacity=50000 highSpeedMode=false inSyncReplicas=1
    indexFileReadEnable=true indexFileWriteEnable=true indexRocksDBEnable=false
    initPopOffsetByCheckMsgInMem=true isBrokerContainer=false isInBrokerContainer=false
    isScanAvailableNameSrv=true isolateLogEnable=false iteratorWhenUseRocksdbConsumeQueue=true
    liteEventCheckInterval=10000 liteEventFullDispatchDelayTime=10000
    liteEventFullDispatchDelayTimeForWildcardGroup=10000 liteLagCountMetricsEnable=false
    liteLagLatencyCollectEnable=false liteLagLatencyMetricsEnable=false liteLagLatencyTopK=50
    litePullMessageThreadPoolNums=1 litePullThreadPoolQueueCapacity=100000
    liteSubscriptionCheckInterval=120000 liteSubscriptionCheckTimeoutMills=180000
    liteTtlCheckInterval=120000 loadBalancePollNameServerInterval=30000
    loadBalanceProcessorThreadPoolNums=32 loadBalanceThreadPoolQueueCapacity=100000
    lockInStrictMode=false logicQueueForceSwapMapInterval=43200000
    logicQueueSwapMapInterval=3600000 logicQueueSwapMapReserveFileNum=20
    logicalDiskSpaceCleanForciblyThreshold=0.8 mappedFileSizeConsumeQueueExt=50331648
    mappedFileSizeTimerLog=104857600 mappedFileSwapEnable=true
    mapperFileSizeBatchConsumeQueue=13800000 maxAsyncPutMessageRequests=5000
    maxBatchDeleteFilesNum=50 maxChecksumRange=1073741824 maxClientEventCount=100
    maxConsumeQueueScan=20000 maxErrorRateOfBloomFilter=20 maxFilterMessageSize=16000
    maxHaTransferByteInSecond=104857600 maxLiteSubscriptionCount=100000
    maxLmqConsumeQueueNum=20000 maxMessageFilterNumForNotification=64 maxOffsetMapSize=104857600
    maxPopPollingSize=100000 maxReconnectIntervalTimeSeconds=60 maxRecoveryCommitlogFiles=30
    maxRocksDBIndexQueryDays=7 maxSlaveResendLength=268435456 maxStatsIdleTimeInMinutes=-1
    memTableFlushIntervalMs=3600000 messageIndexSafe=false messageStorePlugIn=
    metricGrpcExporterIntervalInMills=60000 metricGrpcExporterTimeOutInMills=3000
    metricLoggingExporterIntervalInMills=10000 metricsExportBatchMaxDataPoints=1000
    metricsExporterType=DISABLE metricsGrpcExporterHeader= metricsGrpcExporterTarget=
    metricsInDelta=false metricsLabel= metricsOtelCardinalityLimit=50000 metricsPromExporterHost=
    metricsPromExporterPort=5557 migrateAuthFromV1Enabled=false minInSyncReplicas=1
    minLiteTTl=900000 offsetCheckInSlave=false osPageCacheBusyTimeOutMills=1000
    persistConsumerOffsetIncrementally=false popCkMaxBufferSize=200000
    popCkOffsetMaxQueueSize=20000 popCkStayBufferTime=10000 popCkStayBufferTimeOut=3000
    popConsumerFSServiceInit=true popConsumerKVServiceEnable=false popConsumerKVServiceInit=false
    popConsumerKVServiceLog=false popFromRetryProbability=20 popFromRetryProbabilityForPriority=0
    popInflightMessageThreshold=10000 popLongPollingForceNotifyInterval=800
    popPollingMapExpireTimeSeconds=600 popPollingMapSize=100000 popPollingSize=1024
    popResponseReturnActualRetryTopic=false popReviveConcurrency=32 popReviveMaxAttemptTimes=16
    popReviveMaxReturnSizePerRead=16384 popReviveSkipIfGroupAbsent=true printChannelGroups=false
    printChannelGroupsMinNum=5 priorityOrderAsc=true processReplyMessageThreadPoolNums=1
    pullMessageThreadPoolNums=1 pullThreadPoolQueueCapacity=100000
    putConsumeQueueDataByFileChannel=true putMessageFutureThreadPoolNums=1 putMessageTimeout=8000
    putMsgIndexHightWater=600000 putThreadPoolQueueCapacity=10000 queryMessageThreadPoolNums=1
    queryThreadPoolQueueCapacity=20000 readUnCommitted=false realTimePersistRocksDBConfig=true
    recallMessageEnable=false recheckReputOffsetFromCq=false recoverConcurrently=false
    recoverThreadPoolNums=32 redeleteHangedFileInterval=120000 replicasPerDiskPartition=1
    replyThreadPoolQueueCapacity=10000 retrieveMessageFromPopRetryTopicV1=true
    reviveAckWaitMs=180000 reviveInterval=1000 reviveMaxSlow=3 reviveScanTime=10000
    rocksdbCQDoubleWriteEnable=false rocksdbCompressionType=lz4 rocksdbFlushWalFrequency=1024
    rocksdbWalFileRollingThreshold=1073741824 sampleCountThreshold=5000 sampleSteps=32
    scheduleAsyncDeliverMaxPendingLimit=2000 scheduleAsyncDeliverMaxResendNum2Blocked=3
    searchBcqByCacheEnable=true sendHeartbeatTimeoutMillis=1000 sendMessageThreadPoolNums=1
    sendThreadPoolQueueCapacity=10000 serverAsyncSemaphoreValue=64
    serverCallbackExecutorThreads=0 serverNettyWorkerGroupEnable=true
    serverOnewaySemaphoreValue=256 serverPooledByteBufAllocatorEnable=true
    serverSelectorThreads=3 serverWorkerThreads=8 sharedByteBufferNum=16
    shutdownWaitTimeSeconds=30 skipPreOnline=false skipWhenCKRePutReachMaxTimes=false
    slaveTimeout=3000 socksProxyConfig={} spinLockCollisionRetreatOptimalDegree=1000
    splitMetadataSize=2000 splitRegistrationSize=800 startAcceptSendRequestTimeStamp=0
    statRocksDBCQIntervalSec=10 statefulAuthenticationCacheExpiredSecond=60
    statefulAuthenticationCacheMaxNum=10000 statefulAuthorizationCacheExpiredSecond=60
    statefulAuthorizationCacheMaxNum=10000 storeType=default subscriptionExpiredTimeout=600000
    syncBrokerMemberGroupPeriod=1000 syncBrokerMetadataPeriod=5000
    syncControllerMetadataPeriod=10000 syncFromLastFile=false
    syncMasterFlushOffsetWhenStartup=false timerCheckMetricsWhen=05
    timerColdDataCheckIntervalMs=60000 timerCongestNumEachSlot=2147483647
    timerEnableCheckMetrics=true timerEnableDisruptor=false timerEnableRetryUntilSuccess=false
    timerFlushIntervalMs=1000 timerGetMessageThreadNum=3 timerInterceptDelayLevel=false
    timerMaxDelaySec=259200 timerMetricSmallThreshold=1000000 timerPrecisionMs=1000
    timerProgressLogIntervalMs=10000 timerPutMessageThreadNum=3 timerRecallToTimeWheelEnable=true
    timerRecallToTimelineEnable=true timerReputServiceCorePoolSize=6
    timerReputServiceMaxPoolSize=6 timerReputServiceQueueCapacity=10000 timerRocksDBEnable=false
    timerRocksDBPrecisionMs=1000 timerRocksDBRollIntervalHours=1 timerRocksDBRollMaxTps=8000.0
    timerRocksDBRollRangeHours=2 timerRocksDBStopScan=false
    timerRocksDBTimeExpiredMaxTps=200000.0 timerRollWindowSlot=172800 timerSkipUnknownError=false
    timerStopDequeue=false timerStopEnqueue=false timerWarmEnable=false
    timerWheelSnapshotFlush=false timerWheelSnapshotIntervalMs=10000 topicQueueLockNum=32
    totalReplicas=1 transRocksDBEnable=false transWriteOriginTransHalfEnable=true
    transactionCheckRocksdbCoreThreads=2 transactionCheckRocksdbMaxThreads=5
    transactionCheckRocksdbQueueCapacity=2000 transactionMetricFlushInterval=10000
    transactionOpBatchInterval=3000 transactionOpMsgMaxSize=4096 transferMsgByHeap=true
    transientStorePoolEnable=false transientStorePoolSize=5 travelCqFileNumWhenGetMessage=1
    updateNameServerAddrPeriod=120000 useABSLock=false useEpollNativeSelector=false
    useMessageFilterForNotification=true usePIDColdCtrStrategy=true
    useReentrantLockWhenPutMessage=true useSeparateRetryQueue=false
    useSeparateStorePathForRocksdbCQ=false useSingleRocksDBForAllConfigs=false
    useStaticSubscription=false useTLS=false userCacheExpiredSecond=600 userCacheMaxNum=1000
    userCacheRefreshSecond=60 waitTimeMillsInAckQueue=3000 waitTimeMillsInAdminBrokerQueue=5000
    waitTimeMillsInHeartbeatQueue=31000 waitTimeMillsInLitePullQueue=5000
    waitTimeMillsInPullQueue=5000 waitTimeMillsInSendQueue=200
    waitTimeMillsInTransactionQueue=3000 wakeCommitWhenPutMessage=true
    wakeFlushWhenPutMessage=false warmMapedFileEnable=false writeBufferHighWaterMark=0
    writeBufferLowWaterMark=0 writeWithoutMmap=false
""")

NAMESERVER: Final = _table("""
    clientRequestThreadPoolNums=8 clientRequestThreadPoolQueueCapacity=50000
    configBlackList=configBlackList;configStorePath;kvConfigPath defaultThreadPoolNums=16
    defaultThreadPoolQueueCapacity=10000 enableControllerInNamesrv=false
    enableShutdownGracefully=false serverAsyncSemaphoreValue=64 serverCallbackExecutorThreads=0
    serverNettyWorkerGroupEnable=true serverOnewaySemaphoreValue=256
    serverPooledByteBufAllocatorEnable=true serverSelectorThreads=3 serverWorkerThreads=8
    shutdownWaitTimeSeconds=30 unRegisterBrokerQueueCapacity=3000 useEpollNativeSelector=false
    writeBufferHighWaterMark=0 writeBufferLowWaterMark=0
""")

# Without a value until somebody gives one, and so not shown; one is another spelling.
UNSET: Final = _words("""
    authConfigPath authenticationMetadataProvider authenticationProvider authenticationStrategy
    authenticationWhitelist authorizationMetadataProvider authorizationProvider
    authorizationStrategy authorizationWhitelist brokerConfigPath clusterName configName
    dLegerGroup dLegerPeers dLegerSelfId haMasterAddress initAuthenticationUser
    innerClientAuthenticationCredentials preferredLeaderId readOnlyCommitLogStorePaths
    rocketmqHome scanAvailableNameSrv storePathBrokerIdentity storePathDLedgerCommitLog
    storePathEpochFile
""")

# Served only with the value above: to ignore another one would open a door or spoil a store.
REFUSED: Final = _words("""
    aclEnable authenticationEnabled authorizationEnabled enableControllerMode
    enableDLegerCommitLog useTLS
""")

# They would change what users see; so whoever sets one to something else is told so.
WITHOUT_EFFECT: Final = _words("""
    allAckInSyncStateSet duplicationEnable enableAutoInSyncReplicas enableConsumeQueueExt
    enableMultiDispatch enableRetryTopicV2 enableSlaveActingMaster enabledAppendPropCRC
    haMasterAddress inSyncReplicas messageStorePlugIn metricsExporterType minInSyncReplicas
    readOnlyCommitLogStorePaths recallMessageEnable storeType timerRocksDBEnable totalReplicas
    transRocksDBEnable transientStorePoolEnable
""")
