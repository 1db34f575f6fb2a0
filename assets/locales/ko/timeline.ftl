# timeline
timeline-axis = 시간 축
timeline-failed = 레인을 그리지 못했습니다: { $why }
